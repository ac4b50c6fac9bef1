"""Generates the C++ by which the runtime accesses a design's ports by name."""

import re
from dataclasses import dataclass

__all__ = ["Port", "parse_ports", "write_binding"]

#: A port in the class that Verilator generates, such as ``VL_INW(&m_axi0_rdata,511,0,16);``.
PORT = re.compile(r"VL_(?:IN|OUT)(?:8|16|64|W)?\(&(\w+),\d+,\d+(?:,\d+)?\)")

BINDING = """\
#include <memory>
#include "{prefix}.h"
#include "{runtime}/model.h"
#if SLUICE_TRACE
#include "verilated_fst_c.h"
#endif

namespace {{

struct Entry {{
  const char* name;
  sluice::Pin pin;
}};

class Design final : public sluice::Model {{
 public:
  Design() : context_(std::make_unique<VerilatedContext>()) {{
#if SLUICE_TRACE
    context_->traceEverOn(true);
    context_->timeunit(-12), context_->timeprecision(-12);
#endif
    design_ = std::make_unique<{prefix}>(context_.get(), "system");
    table_ = {{
{entries}
    }};
    for (Entry& entry : table_) std::memset(entry.pin.data(), 0, entry.pin.bytes());
  }}
  void eval() override {{ design_->eval(); }}
  sluice::Pin pin(const std::string& name) override {{
    const Entry* entry = find(name);
    return entry ? entry->pin : sluice::Pin();
  }}
  std::vector<std::string> pin_names() const override {{
    std::vector<std::string> names;
    for (const Entry& entry : table_) names.push_back(entry.name);
    return names;
  }}
#if SLUICE_TRACE
  bool open_trace(const std::string& path) override {{
    trace_ = std::make_unique<VerilatedFstC>();
    design_->trace(trace_.get(), 99);
    trace_->open(path.c_str());
    return trace_->isOpen();
  }}
  void dump(uint64_t picoseconds) override {{ trace_->dump(picoseconds); }}
  void close_trace() override {{ trace_->close(); }}
#else
  bool open_trace(const std::string&) override {{ return false; }}
  void dump(uint64_t) override {{}}
  void close_trace() override {{}}
#endif

 private:
  const Entry* find(const std::string& name) const {{
    for (const Entry& entry : table_) if (name == entry.name) return &entry;
    return nullptr;
  }}

  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<{prefix}> design_;
  std::vector<Entry> table_;
#if SLUICE_TRACE
  std::unique_ptr<VerilatedFstC> trace_;
#endif
}};

}}  // namespace

std::unique_ptr<sluice::Model> sluice::make_model() {{ return std::make_unique<Design>(); }}
"""


@dataclass(frozen=True)
class Port:
    """A top-level port as Verilator declares it."""

    member: str  #: name in the generated class; names that C++ reserves have a prefix

    @property
    def name(self) -> str:
        """The name in the Verilog."""
        return self.member.removeprefix("__SYM__")


def parse_ports(header: str) -> tuple[Port, ...]:
    """The ports declared in the header that Verilator generated for the top module."""
    return tuple(Port(member) for member in PORT.findall(header))


def write_binding(prefix: str, header: str, runtime: str) -> str:
    """The C++ source of the binding for the class ``prefix``, with the runtime's sources in folder ``runtime``."""
    entries = "\n".join(
        f'        {{"{port.name}", sluice::Pin(&design_->{port.member}, sizeof design_->{port.member})}},'
        for port in parse_ports(header)
    )
    return BINDING.format(prefix=prefix, entries=entries, runtime=runtime)
