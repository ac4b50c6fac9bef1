template <typename T> T larger(T a, T b) { return a > b ? a : b; }
constexpr int N = 4;
namespace tools { int one() { return 1; } }
extern "C" int two();
int class_of(int class) { return class; } // a name of this program

__global__ void scale(int *a)
{
    a[0] = std::min(a[1], 3);
    a[1] = static_cast<int>(2.5f);
}
