// The pages, in the order of the navigation: the one place where a page is registered. `load` gives its module.

export const pages = [
  {name: "overview", title: "Overview", load: () => import("./pages/overview.js")},
  {name: "live", title: "Live", load: () => import("./pages/live.js")},
  {name: "timeline", title: "Timeline", load: () => import("./pages/timeline.js")},
  {name: "ledger", title: "Ledger", load: () => import("./pages/ledger.js")},
  {name: "letters", title: "Dead letters", load: () => import("./pages/letters.js")},
  {name: "playground", title: "Playground", load: () => import("./pages/playground.js")},
  {name: "mappings", title: "Mappings", load: () => import("./pages/mappings.js")},
];

/** Whether there is a page for a link such as "letters?reason=noTemplate". */
export const isPage = (link) => pages.some((page) => page.name === (link ?? "").split("?")[0]);
