// a * a + 1, two cycles later, if the operand is valid and the module is not in reset
module square (
    input clock,
    input resetn,
    input ivalid,
    output iready,
    output ovalid,
    input oready,
    input [31:0] a,
    output [31:0] q
);
  reg [31:0] product, sum;
  assign iready = 1;
  assign ovalid = oready;
  assign q = sum;
  always @(posedge clock) begin
    product <= resetn && ivalid && oready ? a * a : 0;
    sum <= product + 1;
  end
endmodule
