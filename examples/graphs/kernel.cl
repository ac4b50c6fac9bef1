// Work-items with data-dependent addresses: the nearest centres of many points, breadth-first search, chains of pointers.
#pragma OPENCL FP_CONTRACT OFF

// The nearest centre of every point; features are stored one after the other, each for all points
__kernel void kmeans(__global const float *restrict features, __global const float *restrict centres, __global int *restrict nearest,
                     int points, int clusters, int dimensions)
{
    int point = get_global_id(0);
    float least = FLT_MAX;
    int best = 0;
    for (int c = 0; c < clusters; c++) {
        float distance = 0.0f;
        for (int d = 0; d < dimensions; d++) {
            float off = features[d * points + point] - centres[c * dimensions + d];
            distance += off * off;
        }
        if (distance < least) {
            least = distance;
            best = c;
        }
    }
    nearest[point] = best;
}

// One step of breadth-first search: all nodes of the frontier mark their unvisited neighbours,
__kernel void bfs_visit(__global const int2 *restrict nodes, __global const int *restrict edges, __global char *restrict border,
                        __global char *restrict found, __global const char *restrict visited, __global int *restrict cost)
{
    int node = get_global_id(0);
    if (border[node]) {
        border[node] = 0;
        int begin = nodes[node].x, end = begin + nodes[node].y;
        for (int e = begin; e < end; e++) {
            int to = edges[e];
            if (!visited[to]) {
                cost[to] = cost[node] + 1;
                found[to] = 1;
            }
        }
    }
}

// and the marked nodes are the next frontier
__kernel void bfs_advance(__global char *restrict border, __global char *restrict found, __global char *restrict visited,
                          __global int *restrict again)
{
    int node = get_global_id(0);
    if (found[node]) {
        border[node] = 1;
        visited[node] = 1;
        *again = 1;
        found[node] = 0;
    }
}

// Every work-item follows a chain of its own; each value read is the next index
__kernel void chase(__global const int *restrict next, __global int *restrict last, int steps)
{
    int place = get_global_id(0);
    for (int i = 0; i < steps; i++)
        place = next[place];
    last[get_global_id(0)] = place;
}
