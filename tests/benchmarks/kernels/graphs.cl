// Graphs as rows of edges: the edges of node v are edge[row[v]] to edge[row[v + 1] - 1].

__kernel void bfs_queue(__global const int *restrict row, __global const int *restrict edge, __global int *restrict level,
                        __global int *restrict queue, int source, int nodes)
{
    for (int v = 0; v < nodes; v++)
        level[v] = -1;
    level[source] = 0;
    queue[0] = source;
    int head = 0, tail = 1;
    while (head < tail) {
        int v = queue[head++];
        for (int e = row[v]; e < row[v + 1]; e++) {
            int w = edge[e];
            if (level[w] < 0) {
                level[w] = level[v] + 1;
                queue[tail++] = w;
            }
        }
    }
}

__kernel void bellman_ford(__global const int *restrict from, __global const int *restrict to, __global const int *restrict length,
                           __global int *restrict distance, int edges, int rounds)
{
    for (int r = 0; r < rounds; r++)
        for (int e = 0; e < edges; e++) {
            int reached = distance[from[e]] + length[e];
            if (reached < distance[to[e]])
                distance[to[e]] = reached;
        }
}

__kernel void page_rank(__global const int *restrict row, __global const int *restrict edge, __global const int *restrict degree,
                        __global const float *restrict rank, __global float *restrict next, int nodes)
{
    for (int v = 0; v < nodes; v++) {
        float sum = 0;
        for (int e = row[v]; e < row[v + 1]; e++)
            sum += rank[edge[e]] / degree[edge[e]];
        next[v] = 0.15f / nodes + 0.85f * sum;
    }
}

__kernel void matching(__global const int *restrict from, __global const int *restrict to, __global int *restrict mate,
                       __global int *restrict pairs, int edges)
{
    int count = 0;
    for (int e = 0; e < edges; e++) {
        int u = from[e], v = to[e];
        if (mate[u] < 0 && mate[v] < 0) {
            mate[u] = v;
            mate[v] = u;
            count++;
        }
    }
    pairs[0] = count;
}

__kernel void components(__global const int *restrict row, __global const int *restrict edge, __global int *restrict label,
                         int nodes, int rounds)
{
    for (int r = 0; r < rounds; r++)
        for (int v = 0; v < nodes; v++) {
            int least = label[v];
            for (int e = row[v]; e < row[v + 1]; e++)
                if (label[edge[e]] < least)
                    least = label[edge[e]];
            label[v] = least;
        }
}
