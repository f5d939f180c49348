const LIGHT = `
  --ground: #f5f6f8; --sheet: #ffffff; --ink: #16202b; --quiet: #55616e; --line: #dfe3e8; --link: #0b5cad;
  --ok: #1e7d46; --warn: #935400; --bad: #b3231c; --calm: #59636f; --plan: #4b4fa8;
  --ok-bar: #2f9e5f; --warn-bar: #d08700; --bad-bar: #cf352c; --none-bar: #d5dae0; --calm-bar: #9aa4af; --plan-bar: #7377d6;
  --mark: #ffffff; --shade: 0 1px 2px rgb(16 24 32 / .06), 0 1px 6px rgb(16 24 32 / .04);`
const DARK = `
  --ground: #0f1419; --sheet: #182028; --ink: #e6ebf0; --quiet: #a0adba; --line: #2b3540; --link: #86bdfa;
  --ok: #6fd49b; --warn: #f0bd62; --bad: #ff948b; --calm: #b3bec9; --plan: #b3b6ff;
  --ok-bar: #3fae6f; --warn-bar: #dd9c24; --bad-bar: #e9564c; --none-bar: #333e4a; --calm-bar: #6d7985; --plan-bar: #8185e6;
  --mark: #182028; --shade: none;`

/** The common style of all pages: light and dark colours, links, focus, and the shapes of states. */
export const BASE_STYLE = `
:root { color-scheme: light dark; ${LIGHT} }
@media (prefers-color-scheme: dark) { :root:not([data-theme]) { ${DARK} } }
:root[data-theme="light"] { color-scheme: light; }
:root[data-theme="dark"] { color-scheme: dark; ${DARK} }
* { box-sizing: border-box; }
html { font: 100%/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif; background: var(--ground); color: var(--ink); -webkit-text-size-adjust: 100%; }
main:focus { outline: none; }
a { color: var(--link); text-underline-offset: .16em; text-decoration-thickness: .06em; }
a:hover { text-decoration-thickness: .12em; }
:focus-visible { outline: .16rem solid var(--link); outline-offset: .16rem; border-radius: .2rem; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; margin: 0; }
.skip { position: absolute; left: -100vw; top: .5rem; background: var(--sheet); padding: .5rem .8rem; border-radius: .4rem; }
.skip:focus { left: .5rem; }
.shapes { position: absolute; width: 0; height: 0; }
.icon { width: 1em; height: 1em; flex: none; align-self: center; fill: currentColor; stroke: none; overflow: visible; }
.mark { fill: none; stroke: var(--mark); stroke-width: 1.9; stroke-linecap: round; stroke-linejoin: round; }
.ring { fill: none; stroke: currentColor; stroke-width: 2; stroke-dasharray: 3.4 2.6; }
.label { display: inline-flex; align-items: baseline; gap: .42em; font-weight: 600; font-size: .92rem; white-space: nowrap; }
.s-operational { color: var(--ok); } .s-degraded { color: var(--warn); } .s-down { color: var(--bad); } .s-maintenance { color: var(--plan); } .s-unknown, .s-paused { color: var(--calm); }
.d-operational { fill: var(--ok-bar); } .d-degraded { fill: var(--warn-bar); } .d-down { fill: var(--bad-bar); } .d-unknown { fill: var(--calm-bar); } .d-maintenance { fill: var(--plan-bar); } .d-none { fill: var(--none-bar); }
.d-paused { fill: none; stroke: var(--calm-bar); stroke-width: 1; vector-effect: non-scaling-stroke; }
summary { cursor: pointer; color: var(--link); width: fit-content; padding: .1rem 0; }
@media print { :root:not([data-theme]), :root[data-theme] { color-scheme: light; ${LIGHT} } }
@media (prefers-contrast: more) { :root { --quiet: var(--ink); --line: currentColor; } }
`
