/* used by included_error.cl */
int scale(int x) {
  return x * factr;
}
