// A kernel written by hand: adds `amount` to each of 16 * `words` integers at `address`, 512 bits a cycle.
// Registers: 0x00 control (write bit 0: start, bit 1: clear done; read bit 1: done, bit 2: idle), 0x10/0x14 cycles,
// 0x100/0x104 address, 0x108 words, 0x110 amount, 0x1000/0x1004 beats with an error.
module sluice_system (
  input clk,
  input rst,
  output interrupt,
  input s_axil_awvalid,
  output s_axil_awready,
  input [23:0] s_axil_awaddr,
  input s_axil_wvalid,
  output s_axil_wready,
  input [31:0] s_axil_wdata,
  input [3:0] s_axil_wstrb,
  output reg s_axil_bvalid,
  input s_axil_bready,
  output [1:0] s_axil_bresp,
  input s_axil_arvalid,
  output s_axil_arready,
  input [23:0] s_axil_araddr,
  output reg s_axil_rvalid,
  input s_axil_rready,
  output reg [31:0] s_axil_rdata,
  output [1:0] s_axil_rresp,
  output m_axi0_arvalid,
  input m_axi0_arready,
  output [63:0] m_axi0_araddr,
  output [7:0] m_axi0_arlen,
  output [2:0] m_axi0_arsize,
  output [1:0] m_axi0_arburst,
  output m_axi0_arid,
  input m_axi0_rvalid,
  output m_axi0_rready,
  input [511:0] m_axi0_rdata,
  input [1:0] m_axi0_rresp,
  input m_axi0_rlast,
  input m_axi0_rid,
  output m_axi0_awvalid,
  input m_axi0_awready,
  output [63:0] m_axi0_awaddr,
  output [7:0] m_axi0_awlen,
  output [2:0] m_axi0_awsize,
  output [1:0] m_axi0_awburst,
  output m_axi0_awid,
  output m_axi0_wvalid,
  input m_axi0_wready,
  output [511:0] m_axi0_wdata,
  output [63:0] m_axi0_wstrb,
  output m_axi0_wlast,
  input m_axi0_bvalid,
  output m_axi0_bready,
  input [1:0] m_axi0_bresp,
  input m_axi0_bid
);
  localparam BURST = 8;  // words

  reg [63:0] address; reg [31:0] words, amount;
  reg running, finished; reg [63:0] cycles, errors;
  reg [31:0] to_read, to_write, to_send, to_acknowledge;
  reg [63:0] read_at, write_at;

  // Registers
  wire write = s_axil_awvalid & s_axil_wvalid & ~s_axil_bvalid;
  assign s_axil_awready = write, s_axil_wready = write, s_axil_bresp = 0;
  assign s_axil_arready = ~s_axil_rvalid, s_axil_rresp = 0;
  assign interrupt = finished;

  // Memory: bursts of BURST words and one shorter at the end
  function [7:0] burst(input [31:0] left); burst = left < BURST ? left[7:0] : BURST; endfunction
  assign m_axi0_arvalid = running & to_read != 0, m_axi0_araddr = read_at, m_axi0_arlen = burst(to_read) - 1;
  assign m_axi0_arsize = 6, m_axi0_arburst = 1, m_axi0_arid = 0;
  assign m_axi0_awvalid = running & to_write != 0, m_axi0_awaddr = write_at, m_axi0_awlen = burst(to_write) - 1;
  assign m_axi0_awsize = 6, m_axi0_awburst = 1, m_axi0_awid = 0;
  reg [2:0] place;
  assign m_axi0_wvalid = m_axi0_rvalid, m_axi0_rready = m_axi0_wready, m_axi0_wstrb = ~64'd0;
  assign m_axi0_wlast = place == BURST - 1 | to_send == 1, m_axi0_bready = 1;
  genvar lane;
  generate for (lane = 0; lane < 16; lane = lane + 1) begin : lanes
    assign m_axi0_wdata[32 * lane +: 32] = m_axi0_rdata[32 * lane +: 32] + amount;
  end endgenerate

  always @(posedge clk) begin
    if (running) cycles <= cycles + 1;
    if (m_axi0_arvalid & m_axi0_arready) begin
      to_read <= to_read - burst(to_read); read_at <= read_at + 64 * BURST;
    end
    if (m_axi0_awvalid & m_axi0_awready) begin
      to_write <= to_write - burst(to_write); write_at <= write_at + 64 * BURST;
    end
    if (m_axi0_wvalid & m_axi0_wready) begin
      to_send <= to_send - 1; place <= place + 1;
    end
    if (m_axi0_rvalid & m_axi0_rready & m_axi0_rresp != 0) errors <= errors + 1;
    if (m_axi0_bvalid) begin
      to_acknowledge <= to_acknowledge - 1;
      if (m_axi0_bresp != 0) errors <= errors + 1;
    end
    if (running & to_acknowledge == 0) begin running <= 0; finished <= 1; end

    if (s_axil_bready) s_axil_bvalid <= 0;
    if (write) begin
      s_axil_bvalid <= 1;
      case (s_axil_awaddr)
        24'h000: if (s_axil_wdata[1]) finished <= 0; else if (s_axil_wdata[0]) begin
          running <= 1; finished <= 0; cycles <= 0; errors <= 0; place <= 0;
          to_read <= words; to_write <= words; to_send <= words; to_acknowledge <= (words + BURST - 1) / BURST;
          read_at <= address; write_at <= address;
        end
        24'h100: address[31:0] <= s_axil_wdata;
        24'h104: address[63:32] <= s_axil_wdata;
        24'h108: words <= s_axil_wdata;
        24'h110: amount <= s_axil_wdata;
        default: ;
      endcase
    end
    if (s_axil_rready) s_axil_rvalid <= 0;
    if (s_axil_arvalid & s_axil_arready) begin
      s_axil_rvalid <= 1;
      case (s_axil_araddr)
        24'h000: s_axil_rdata <= {~running, finished, running};
        24'h004: s_axil_rdata <= errors != 0;
        24'h010: s_axil_rdata <= cycles[31:0];
        24'h014: s_axil_rdata <= cycles[63:32];
        24'h1000: s_axil_rdata <= errors[31:0];
        24'h1004: s_axil_rdata <= errors[63:32];
        default: s_axil_rdata <= 0;
      endcase
    end
    if (rst) begin running <= 0; finished <= 0; s_axil_bvalid <= 0; s_axil_rvalid <= 0; end
  end
endmodule
