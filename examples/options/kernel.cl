// Prices of European options by the Black-Scholes formula: one work-item prices one option.
#pragma OPENCL FP_CONTRACT OFF

// the normal distribution, by the polynomial 26.2.17 of Abramowitz and Stegun
float normal(float x)
{
    float size = fabs(x);
    float t = 1.0f / (1.0f + 0.2316419f * size);
    float sum = t * (0.319381530f + t * (-0.356563782f + t * (1.781477937f + t * (-1.821255978f + t * 1.330274429f))));
    float upper = 0.3989422804f * exp(-0.5f * size * size) * sum;
    return x < 0.0f ? upper : 1.0f - upper;
}

__kernel void black_scholes(__global const float *restrict price, __global const float *restrict strike,
                            __global const float *restrict years, __global float *restrict call, __global float *restrict put,
                            float rate, float volatility)
{
    int i = get_global_id(0);
    float s = price[i], k = strike[i], t = years[i];
    float spread = volatility * sqrt(t);
    float d1 = (log(s / k) + (rate + 0.5f * volatility * volatility) * t) / spread;
    float d2 = d1 - spread;
    float n1 = normal(d1), n2 = normal(d2);
    float discounted = k * exp(-rate * t);
    call[i] = s * n1 - discounted * n2;
    put[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
}
