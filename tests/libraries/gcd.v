// the greatest common divisor, one pair of operands at a time, in as many cycles as it takes
module gcd (
    input clk,
    input resetn,
    input ivalid,
    output iready,
    input [31:0] a, b,
    output ovalid,
    input oready,
    output [31:0] q
);
  reg busy;
  reg [31:0] x, y;
  reg [4:0] twos;
  wire found = x == y || x == 0 || y == 0;
  assign iready = !busy;
  assign ovalid = busy && found;
  assign q = (x == 0 ? y : x) << twos;
  always @(posedge clk)
    if (!resetn) busy <= 0;
    else if (!busy) begin
      busy <= ivalid;
      x <= a;
      y <= b;
      twos <= 0;
    end else if (found) busy <= !oready;
    else if (!x[0] && !y[0]) begin
      x <= x >> 1;
      y <= y >> 1;
      twos <= twos + 1;
    end else if (!x[0]) x <= x >> 1;
    else if (!y[0]) y <= y >> 1;
    else if (x > y) x <= (x - y) >> 1;
    else y <= (y - x) >> 1;
endmodule
