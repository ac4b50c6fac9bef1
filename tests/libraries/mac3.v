// 3 * a + b, three cycles later
module mac3 (
    input wire clk,
    input wire en,
    input wire [31:0] a, b,
    output reg [31:0] q
);
  reg [31:0] product, addend, sum;
  always @(posedge clk)
    if (en) begin
      product <= a * 32'd3;
      addend <= b;
      sum <= product + addend;
      q <= sum;
    end
endmodule
