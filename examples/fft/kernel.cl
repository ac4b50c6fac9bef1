// Fourier transforms of 1024 points, one point a cycle: radix 4, each stage two butterflies over a sliding window.
#pragma OPENCL FP_CONTRACT OFF

#define POINTS 1024
#define BITS 10

channel float2 samples __attribute__((depth(8)));
channel float2 spectrum __attribute__((depth(8)));

// cosine from 0 to a quarter of the circle
__constant float quarter_wave[POINTS / 4 + 1] = {
    1.0f, 0.999981165f, 0.999924719f, 0.999830604f, 0.999698818f, 0.999529421f, 0.999322355f, 0.999077737f,
    0.99879545f, 0.998475552f, 0.998118103f, 0.997723043f, 0.997290432f, 0.996820271f, 0.996312618f, 0.995767415f,
    0.99518472f, 0.994564593f, 0.993906975f, 0.993211925f, 0.992479563f, 0.991709769f, 0.990902662f, 0.990058184f,
    0.989176512f, 0.988257587f, 0.987301409f, 0.986308098f, 0.985277653f, 0.984210074f, 0.983105481f, 0.981963873f,
    0.980785251f, 0.979569793f, 0.97831738f, 0.977028131f, 0.975702107f, 0.974339366f, 0.972939968f, 0.971503913f,
    0.970031261f, 0.968522072f, 0.966976464f, 0.965394437f, 0.963776052f, 0.962121427f, 0.960430503f, 0.958703458f,
    0.956940353f, 0.955141187f, 0.953306019f, 0.95143503f, 0.949528158f, 0.947585583f, 0.945607305f, 0.943593442f,
    0.941544056f, 0.939459205f, 0.937339008f, 0.935183525f, 0.932992816f, 0.93076694f, 0.928506076f, 0.926210225f,
    0.923879504f, 0.921514034f, 0.919113874f, 0.916679084f, 0.914209783f, 0.91170603f, 0.909168005f, 0.906595707f,
    0.903989315f, 0.901348829f, 0.898674488f, 0.895966232f, 0.893224299f, 0.890448749f, 0.887639642f, 0.884797096f,
    0.881921291f, 0.879012227f, 0.876070082f, 0.873094976f, 0.870086968f, 0.867046237f, 0.863972843f, 0.860866964f,
    0.857728601f, 0.854557991f, 0.851355195f, 0.848120332f, 0.84485358f, 0.841554999f, 0.838224709f, 0.834862888f,
    0.831469595f, 0.82804507f, 0.824589312f, 0.8211025f, 0.817584813f, 0.81403631f, 0.81045717f, 0.806847572f,
    0.803207517f, 0.799537241f, 0.795836926f, 0.792106569f, 0.78834641f, 0.784556568f, 0.780737221f, 0.77688849f,
    0.773010433f, 0.769103348f, 0.765167236f, 0.761202395f, 0.757208824f, 0.753186822f, 0.749136388f, 0.745057762f,
    0.740951121f, 0.736816585f, 0.732654274f, 0.728464365f, 0.724247098f, 0.720002532f, 0.715730846f, 0.711432219f,
    0.707106769f, 0.702754736f, 0.698376238f, 0.693971455f, 0.689540565f, 0.685083687f, 0.680601001f, 0.676092684f,
    0.671558976f, 0.666999936f, 0.662415802f, 0.657806695f, 0.653172851f, 0.64851439f, 0.643831551f, 0.639124453f,
    0.634393275f, 0.629638255f, 0.624859512f, 0.620057225f, 0.615231574f, 0.610382795f, 0.605511069f, 0.600616455f,
    0.59569931f, 0.590759695f, 0.585797846f, 0.580813944f, 0.575808167f, 0.570780754f, 0.565731823f, 0.560661554f,
    0.555570245f, 0.550457954f, 0.545324981f, 0.540171444f, 0.534997642f, 0.529803634f, 0.524589658f, 0.519356012f,
    0.514102757f, 0.50883013f, 0.50353837f, 0.498227656f, 0.492898196f, 0.487550169f, 0.482183784f, 0.47679922f,
    0.471396744f, 0.465976506f, 0.460538715f, 0.455083579f, 0.449611336f, 0.444122136f, 0.438616246f, 0.433093816f,
    0.427555084f, 0.422000259f, 0.416429549f, 0.410843164f, 0.405241311f, 0.399624199f, 0.393992037f, 0.388345033f,
    0.382683426f, 0.377007425f, 0.371317208f, 0.365612984f, 0.359895051f, 0.354163527f, 0.348418683f, 0.342660725f,
    0.336889863f, 0.331106305f, 0.32531029f, 0.319502026f, 0.313681751f, 0.307849646f, 0.302005947f, 0.296150893f,
    0.290284663f, 0.284407526f, 0.27851969f, 0.272621363f, 0.266712755f, 0.260794103f, 0.254865646f, 0.248927608f,
    0.242980182f, 0.237023607f, 0.231058106f, 0.225083917f, 0.219101235f, 0.213110313f, 0.207111374f, 0.201104641f,
    0.195090324f, 0.18906866f, 0.183039889f, 0.177004218f, 0.170961887f, 0.164913118f, 0.15885815f, 0.152797192f,
    0.146730468f, 0.140658244f, 0.134580702f, 0.128498107f, 0.122410677f, 0.116318628f, 0.110222206f, 0.104121633f,
    0.0980171412f, 0.0919089541f, 0.0857973099f, 0.0796824396f, 0.0735645667f, 0.0674439222f, 0.061320737f,
    0.0551952459f, 0.0490676761f, 0.0429382585f, 0.0368072242f, 0.030674804f, 0.024541229f, 0.0184067301f,
    0.0122715384f, 0.00613588467f, 0.0f};

float wave(uint e)
{
    e &= POINTS - 1;
    uint folded = e > POINTS / 2 ? POINTS - e : e;
    bool minus = folded > POINTS / 4;
    float value = quarter_wave[minus ? POINTS / 2 - folded : folded];
    return minus ? -value : value;
}

float2 turned(float2 x, uint e)
{
    float2 w = (float2)(wave(e), wave(e + POINTS / 4));
    return (float2)(x.x * w.x - x.y * w.y, x.x * w.y + x.y * w.x);
}

// Sums, then differences, of points `distance` apart; the output stream is `distance` points behind. `at` counts the input.
float2 butterfly(float2 *window, uint distance, uint at, float2 x)
{
    float2 one = window[distance - 1], other = window[2 * distance - 1];
    #pragma unroll
    for (int i = 2 * distance - 1; i > 0; i--)
        window[i] = window[i - 1];
    window[0] = x;
    float2 first = at & distance ? one : other, second = at & distance ? x : -one;
    return first + second;
}

// One radix-4 stage of the transform, on blocks of `n` points.
float2 stage(float2 *halves, float2 *quarters, uint n, uint at, float2 x)
{
    float2 y = butterfly(halves, n / 2, at, x);
    at -= n / 2;
    if ((at / (n / 4) & 3) == 3)
        y = (float2)(y.y, -y.x);
    y = butterfly(quarters, n / 4, at, y);
    at -= n / 4;
    uint k = at % (n / 4), part = at / (n / 4) & 3;
    uint turns = part == 0 ? 0 : part == 1 ? 2 * k : part == 2 ? k : 3 * k;
    return n == 4 ? y : turned(y, turns * (POINTS / n));
}

__kernel void fetch_samples(__global const float2 *restrict in, int transforms)
{
    for (int i = 0; i < transforms * POINTS; i++)
        write_channel_intel(samples, in[i]);
}

__kernel void transform(int transforms)
{
    float2 w0[1024], w1[512], w2[256], w3[128], w4[64], w5[32], w6[16], w7[8], w8[4], w9[2];
    for (int t = 0; t < transforms * POINTS + POINTS - 1; t++) {
        float2 x = 0.0f;
        if (t < transforms * POINTS)
            x = read_channel_intel(samples);
        uint at = t;
        x = stage(w0, w1, 1024, at, x);
        x = stage(w2, w3, 256, at - 768, x);
        x = stage(w4, w5, 64, at - 960, x);
        x = stage(w6, w7, 16, at - 1008, x);
        x = stage(w8, w9, 4, at - 1020, x);
        if (t >= POINTS - 1)
            write_channel_intel(spectrum, x);
    }
}

uint reversed(uint at)
{
    uint result = 0;
    #pragma unroll
    for (int i = 0; i < BITS; i++)
        result |= (at >> i & 1) << (BITS - 1 - i);
    return result;
}

// The points arrive in bit-reversed order; while one transform is reordered, the one before is written.
__kernel void store_spectrum(__global float2 *restrict out, int transforms)
{
    float2 kept[2 * POINTS];
    for (int i = 0; i < (transforms + 1) * POINTS; i++) {
        uint at = i & POINTS - 1, side = i & POINTS;
        if (i >= POINTS)
            out[i - POINTS] = kept[(side ^ POINTS) + at];
        if (i < transforms * POINTS)
            kept[side + reversed(at)] = read_channel_intel(spectrum);
    }
}
