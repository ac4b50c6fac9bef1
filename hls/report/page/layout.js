// Layout of graphs by dagre, in a worker that is started from a Blob: the page stays usable meanwhile.

const layouts = { worker: null, waiting: new Map(), last: 0 };

/** Places for a graph {nodes: [{id, width, height, group}], edges: [{from, to, width, height}], groups: [{id, group}],
 * direction}: a promise of {width, height, nodes: {id: {x, y}}, edges: [{points, x, y}], groups: {id: {x, y, width,
 * height}}}. Positions are those of centres. */
function layOut(graph) {
  layouts.worker ??= startWorker();
  const number = ++layouts.last;
  return new Promise((resolve, reject) => {
    layouts.waiting.set(number, { resolve, reject });
    layouts.worker.postMessage({ number, graph });
  });
}

function startWorker() {
  const code = `${document.getElementById("dagre").textContent}\n${placeGraph}\nonmessage = ({ data }) => {
    try { postMessage({ number: data.number, places: placeGraph(dagre, data.graph) }); }
    catch (error) { postMessage({ number: data.number, error: String(error) }); }
  };`;
  const worker = new Worker(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
  worker.onmessage = ({ data }) => {
    const { resolve, reject } = layouts.waiting.get(data.number);
    layouts.waiting.delete(data.number);
    if (data.error) reject(new Error(data.error));
    else resolve(data.places);
  };
  return worker;
}

/** Runs in the worker. */
function placeGraph(dagre, graph) {
  const g = new dagre.graphlib.Graph({ compound: true, multigraph: true });
  g.setGraph({ rankdir: graph.direction, nodesep: 22, ranksep: 44, edgesep: 12, marginx: 12, marginy: 12 });
  graph.groups.forEach((one) => g.setNode(one.id, { paddingTop: 20 }));
  graph.nodes.forEach(({ id, width, height }) => g.setNode(id, { width, height }));
  [...graph.groups, ...graph.nodes].forEach((one) => one.group && g.setParent(one.id, one.group));
  graph.edges.forEach(({ from, to, width, height }, index) =>
    g.setEdge(from, to, { width, height, labelpos: "c" }, String(index)),
  );
  dagre.layout(g);
  const places = { width: g.graph().width, height: g.graph().height, nodes: {}, groups: {}, edges: [] };
  graph.nodes.forEach(({ id }) => (places.nodes[id] = { x: g.node(id).x, y: g.node(id).y }));
  graph.groups.forEach(({ id }) => {
    const { x, y, width, height } = g.node(id);
    if (width) places.groups[id] = { x, y, width, height };
  });
  graph.edges.forEach(({ from, to }, index) => {
    const { points, x, y } = g.edge(from, to, String(index));
    places.edges.push({ points, x, y });
  });
  return places;
}
