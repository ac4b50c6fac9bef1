# Runs a script for Vivado or Quartus with commands that only record how they are called: tclsh THIS SCRIPT.
# A command that is not listed here is an error, as in the tool.
set ::calls {}
proc record {name args} { lappend ::calls [list $name {*}$args]; return "<$name>" }
foreach name {create_project add_files set_property get_files current_fileset update_compile_order ipx::package_project ipx::current_core ipx::remove_bus_interface ipx::remove_memory_map ipx::remove_address_space ipx::add_bus_interface ipx::add_port_map ipx::add_bus_parameter ipx::associate_bus_interfaces ipx::add_address_space ipx::get_bus_interfaces ipx::add_memory_map ipx::add_address_block ipx::add_register ipx::update_checksums ipx::check_integrity ipx::save_core close_project set_module_property add_fileset set_fileset_property add_fileset_file add_interface set_interface_property add_interface_port set_port_property set_global_assignment create_clock get_ports} {
    namespace eval [namespace qualifiers ::$name] {}
    proc ::$name args "record $name {*}\$args"
}
foreach name {ipx::get_memory_maps ipx::get_address_spaces get_property} { proc ::$name args {return {}} }
proc ipx::get_bus_interfaces args { if {[lindex $args 0] eq "-of_objects"} {return {}}; return "<bus [lindex $args 0]>" }
rename package _package
proc package args { if {[lindex $args 0] eq "require" && [string match qsys* [lindex $args 2]]} return; _package {*}$args }
set ::quartus(qip_path) /qip
source [lindex $argv 0]
foreach call $::calls { puts $call }
