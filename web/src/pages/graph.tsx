import { useEffect, useRef } from "preact/hooks";
import { COLUMN_TITLES } from "../../../src/views/board/columns.ts";
import type { GraphDocument, GraphNode } from "../../../src/views/board/graph.ts";
import { countText } from "../../../src/stdx/plain-text.ts";
import { durationText } from "../../../src/views/text/words.ts";
import { Filter } from "../parts/filter.tsx";
import { Loading } from "../parts/loading.tsx";
import { Badge } from "../parts/marks.tsx";
import { Link, setSearchParam, searchParam } from "../router.tsx";
import { useDocument } from "../use-document.ts";
import { useTitle } from "../use-title.ts";

/** Dependencies between stories, from left to right, with the critical path. */
export function Graph() {
  useTitle("Graph");
  const query = searchParam("q");
  const loaded = useDocument<GraphDocument>(`/graph?q=${encodeURIComponent(query)}`);
  return (
    <>
      <div class="head">
        <h1>Graph</h1>
        {loaded.data !== null && <CriticalPath graph={loaded.data} />}
      </div>
      <div class="tools">
        <Filter label="Filter stories" value={query} onInput={(text) => setSearchParam("q", text)} />
      </div>
      <Loading loaded={loaded}>{(graph) => <Drawing graph={graph} isFiltered={query !== ""} />}</Loading>
    </>
  );
}

/** The critical path as text, for users who cannot see the lines. */
function CriticalPath({ graph: { critical, criticalMs, nodes } }: { readonly graph: GraphDocument }) {
  if (critical.length === 0) return <p class="muted">No open story waits for another.</p>;
  const titles = new Map(nodes.map(({ id, title }) => [id, title]));
  return (
    <p class="critical">
      <strong>Critical path</strong>{" "}
      <span class="muted">
        {countText(critical.length, "story", "stories")} one after the other
        {criticalMs !== null && `, about ${durationText(criticalMs)} by what accepted stories took`}:
      </span>{" "}
      {critical.slice(0, MOST_NAMED).map((id, index) => (
        <span key={id}>
          {index > 0 && " → "}
          <Link to={`/story/${id}`}>{titles.get(id) ?? id}</Link>
        </span>
      ))}
      {critical.length > MOST_NAMED && ` → ${critical.length - MOST_NAMED} more`}
    </p>
  );
}

const MOST_NAMED = 8;
/** In pixels: a box, and the space between two boxes. */
const BOX = { width: 208, height: 62 };
const GAP = { x: 64, y: 16 };

const leftOf = ({ level }: GraphNode): number => level * (BOX.width + GAP.x);
const topOf = ({ row }: GraphNode): number => row * (BOX.height + GAP.y);

function Drawing({ graph, isFiltered }: { readonly graph: GraphDocument; readonly isFiltered: boolean }) {
  const { nodes, alone, leftOut } = graph;
  const box = useRef<HTMLDivElement>(null);
  const first = nodes.find(({ isCritical }) => isCritical);
  // Scrolls to the open stories: long chains of finished ones are to the left.
  useEffect(() => {
    if (first !== undefined) box.current?.scrollTo({ left: Math.max(0, leftOf(first) - GAP.x) });
  }, [first?.id]);
  const others = [
    ...(alone > 0 && !isFiltered
      ? [`${countText(alone, "story", "stories")} without a dependency ${alone === 1 ? "is" : "are"} not drawn.`]
      : []),
    ...(leftOut > 0 ? [`${leftOut} more are left out: filter for them.`] : []),
  ];
  if (nodes.length === 0)
    return (
      <p class="empty">
        {isFiltered ? "No story with a dependency matches." : `No story depends on another. ${others.join(" ")}`}
      </p>
    );
  const width = Math.max(...nodes.map(leftOf)) + BOX.width;
  const height = Math.max(...nodes.map(topOf)) + BOX.height;
  return (
    <>
      <div class="graph" tabIndex={0} role="region" aria-label="Dependencies" ref={box}>
        <div class="graph-space" style={{ width: `${width}px`, height: `${height}px` }}>
          <Edges nodes={nodes} width={width} height={height} />
          <ul>
            {nodes.map((node) => (
              <Box node={node} key={node.id} />
            ))}
          </ul>
        </div>
      </div>
      <p class="muted">
        {first !== undefined && "The thick line is the critical path. "}
        {others.join(" ")}
      </p>
    </>
  );
}

function Edges({
  nodes,
  width,
  height,
}: {
  readonly nodes: readonly GraphNode[];
  readonly width: number;
  readonly height: number;
}) {
  const places = new Map(nodes.map((node) => [node.id, node]));
  const edges = nodes
    .flatMap((node) =>
      node.dependsOn.map((id) => {
        const from = places.get(id)!;
        return { from, to: node, isCritical: from.isCritical && node.isCritical };
      }),
    )
    // The critical path is drawn last, over the other lines.
    .sort((a, b) => Number(a.isCritical) - Number(b.isCritical));
  return (
    <svg width={width} height={height} aria-hidden="true">
      {edges.map(({ from, to, isCritical }) => {
        const [x1, y1] = [leftOf(from) + BOX.width, topOf(from) + BOX.height / 2];
        const [x2, y2] = [leftOf(to), topOf(to) + BOX.height / 2];
        const bend = Math.max(GAP.x / 2, (x2 - x1) / 2);
        return (
          <path
            class={isCritical ? "edge is-critical" : "edge"}
            d={`M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`}
            key={`${from.id} ${to.id}`}
          />
        );
      })}
    </svg>
  );
}

function Box({ node }: { readonly node: GraphNode }) {
  const { id, title, column, group, dependsOn, isCritical, why } = node;
  return (
    <li
      class={`graph-box is-${group}${isCritical ? " is-critical" : ""}`}
      style={{ left: `${leftOf(node)}px`, top: `${topOf(node)}px`, width: `${BOX.width}px`, height: `${BOX.height}px` }}
      data-row
    >
      <Link to={`/story/${id}`} title={`${title}: ${why}`} isMain>
        {title}
      </Link>
      <Badge word={WORDS[group]} label={COLUMN_TITLES[column]} />
      <span class="unseen">
        {dependsOn.length === 0 ? "waits for none" : `waits for ${dependsOn.join(", ")}`}
        {isCritical && ", on the critical path"}
      </span>
    </li>
  );
}

const WORDS: Readonly<Record<GraphNode["group"], string>> = {
  "needs-you": "escalated",
  active: "working",
  idle: "ready",
  done: "accepted",
};
