// Compares two screenshots of equal size: arguments are two WebP pictures in base64, the edge of a tile in pixels, and the difference
// of a channel (0 to 255) above which a pixel counts as different. The result is {pixels: share of all pixels that
// differ, tiles: [{x, y, share}] of the tiles in which some do}.
const [first, second, edge, level, done] = arguments;

async function pixels(data) {
  const image = new Image();
  image.src = `data:image/webp;base64,${data}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: image.width, height: image.height });
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  return context.getImageData(0, 0, image.width, image.height);
}

Promise.all([pixels(first), pixels(second)]).then(([one, other]) => {
  if (one.width !== other.width || one.height !== other.height) return done({ pixels: 1, tiles: [] });
  const counts = new Map();
  let total = 0;
  for (let at = 0; at < one.data.length; at += 4) {
    const far = (channel) => Math.abs(one.data[at + channel] - other.data[at + channel]) > level;
    if (!(far(0) || far(1) || far(2))) continue;
    total += 1;
    const [x, y] = [(at / 4) % one.width, Math.floor(at / 4 / one.width)];
    const tile = `${Math.floor(x / edge)} ${Math.floor(y / edge)}`;
    counts.set(tile, (counts.get(tile) ?? 0) + 1);
  }
  const tiles = [...counts].map(([tile, count]) => ({ x: Number(tile.split(" ")[0]) * edge, y: Number(tile.split(" ")[1]) * edge, share: count / edge ** 2 }));
  done({ pixels: total / (one.width * one.height), tiles });
});
