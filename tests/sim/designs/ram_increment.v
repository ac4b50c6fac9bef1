// As increment.v, but one integer a cycle (`words` of them) through plain RAM ports.
module sluice_system (
  input clk, input rst, output interrupt,
  input s_axil_awvalid, output s_axil_awready, input [23:0] s_axil_awaddr,
  input s_axil_wvalid, output s_axil_wready, input [31:0] s_axil_wdata, input [3:0] s_axil_wstrb,
  output reg s_axil_bvalid, input s_axil_bready, output [1:0] s_axil_bresp,
  input s_axil_arvalid, output s_axil_arready, input [23:0] s_axil_araddr,
  output reg s_axil_rvalid, input s_axil_rready, output reg [31:0] s_axil_rdata, output [1:0] s_axil_rresp,
  output ram_in_en, output [15:0] ram_in_addr, input [31:0] ram_in_data,
  output [15:0] ram_out_addr, output [31:0] ram_out_data, output [3:0] ram_out_strobe
);
  reg [31:0] address, words, amount, at, behind, cycles;
  reg running, finished, loaded;
  wire write = s_axil_awvalid & s_axil_wvalid & ~s_axil_bvalid;
  assign s_axil_awready = write, s_axil_wready = write, s_axil_bresp = 0;
  assign s_axil_arready = ~s_axil_rvalid, s_axil_rresp = 0;
  assign interrupt = finished;
  assign ram_in_en = running & at != words, ram_in_addr = (address >> 2) + at;
  assign ram_out_addr = (address >> 2) + behind, ram_out_data = ram_in_data + amount;
  assign ram_out_strobe = {4{loaded}};
  always @(posedge clk) begin
    loaded <= ram_in_en;
    if (ram_in_en) begin at <= at + 1; behind <= at; end
    if (running) cycles <= cycles + 1;
    if (running & at == words) begin running <= 0; finished <= 1; end
    if (s_axil_bready) s_axil_bvalid <= 0;
    if (write) begin
      s_axil_bvalid <= 1;
      case (s_axil_awaddr)
        24'h000: begin
          if (s_axil_wdata[0]) begin running <= 1; cycles <= 0; at <= 0; finished <= 0; end
          if (s_axil_wdata[1]) finished <= 0;
        end
        24'h100: address <= s_axil_wdata;
        24'h108: words <= s_axil_wdata;
        24'h110: amount <= s_axil_wdata;
        default: ;
      endcase
    end
    if (s_axil_rready) s_axil_rvalid <= 0;
    if (s_axil_arvalid & s_axil_arready) begin
      s_axil_rvalid <= 1;
      s_axil_rdata <= s_axil_araddr == 24'h10 ? cycles : 0;
    end
    if (rst) begin running <= 0; finished <= 0; loaded <= 0; s_axil_bvalid <= 0; s_axil_rvalid <= 0; end
  end
endmodule
