import { BASE_STYLE } from '../../../web/baseStyle.ts'

/** The style sheet of status pages. Their content security policy allows no inline styles. */
export const STYLE = `${BASE_STYLE}
body { margin: 0 auto; max-width: 54rem; padding: 0 1.25rem 2.5rem; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
h1 { font-size: 1.5rem; line-height: 1.25; font-weight: 660; letter-spacing: -.012em; margin: .25rem 0 .5rem; }
h2 { font-size: 1.1rem; line-height: 1.3; font-weight: 650; letter-spacing: -.006em; margin: 0 0 .75rem; }
h3, h4 { font-size: 1rem; line-height: 1.4; font-weight: 620; margin: 0; }
p { margin: .2rem 0; }
.quiet, .foot, .legend { color: var(--quiet); font-size: .9rem; }
.text { white-space: pre-line; unicode-bidi: plaintext; margin: .35rem 0; }
main > .text { margin: 0 .2rem 1.25rem; }
.top { padding: 2rem 0 1.25rem; }
.brand { margin: 0; font-size: 1.3rem; font-weight: 680; letter-spacing: -.012em; }
.brand a { color: inherit; text-decoration: none; }
.brand a:hover { text-decoration: underline; }
.banner { --mark: var(--tone); border-radius: .8rem; padding: 1.15rem 1.4rem; margin: 0 0 1.25rem; background: var(--tone); color: var(--on); display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .25rem 1.5rem; box-shadow: var(--shade); }
.banner h2 { font-size: 1.3rem; margin: 0; display: flex; align-items: center; gap: .65rem; }
.banner p { margin: 0; font-size: .9rem; }
.banner .icon { width: 1.5rem; height: 1.5rem; }
.b-operational { --tone: #1c7a45; --on: #ffffff; } .b-degraded { --tone: #8d5200; --on: #ffffff; } .b-down { --tone: #b3231c; --on: #ffffff; }
.b-maintenance { --tone: #4b4fa8; --on: #ffffff; } .b-unknown, .b-paused { --tone: #55606c; --on: #ffffff; }
.group { background: var(--sheet); border: 1px solid var(--line); border-radius: .8rem; padding: 1.2rem 1.4rem; margin: 0 0 1.25rem; box-shadow: var(--shade); }
.components { list-style: none; margin: 0; padding: 0; }
.components > li { padding: 1rem 0; border-top: 1px solid var(--line); }
.components > li:first-child { border-top: 0; padding-top: .2rem; }
.components > li:last-child { padding-bottom: .1rem; }
.row { display: flex; align-items: baseline; justify-content: space-between; gap: .3rem 1rem; }
.row h3 { min-width: 0; }
.row .label { align-self: center; }
.bar { display: block; width: 100%; height: 2.2rem; margin: .55rem 0 .3rem; }
.scale { color: var(--quiet); font-size: .85rem; overflow-wrap: normal; }
.uptime { color: var(--ink); }
details, .components .quiet { margin-top: .3rem; font-size: .9rem; }
.days { margin: .3rem 0 .2rem; padding-left: 1.2rem; columns: 17rem; }
.legend { margin: -.5rem .2rem 1.5rem; }
.incident, .window, .past { margin: 0 0 1.3rem; }
.group > :last-child, .day > :last-child { margin-bottom: 0; }
.incident { border-left: .25rem solid var(--warn-bar); padding-left: 1rem; }
.incident.v-major_outage { border-color: var(--bad-bar); }
.window { border-left: .25rem solid var(--plan-bar); padding-left: 1rem; }
.lead { border-top: .3rem solid var(--warn-bar); } .lead.v-major_outage { border-top-color: var(--bad-bar); }
.updates { list-style: none; margin: .6rem 0 0; padding: 0; }
.updates > li { position: relative; padding: 0 0 .9rem 1.3rem; border-left: .125rem solid var(--line); margin-left: .35rem; }
.updates > li:last-child { border-color: transparent; padding-bottom: 0; }
.updates > li::before { content: ""; position: absolute; left: -.43rem; top: .45rem; width: .7rem; height: .7rem; border-radius: 50%; background: var(--calm-bar); border: .125rem solid var(--sheet); }
.updates > .u-resolved::before { background: var(--ok-bar); } .updates > .u-investigating::before { background: var(--bad-bar); } .updates > .u-identified::before { background: var(--warn-bar); } .updates > .u-monitoring::before { background: var(--plan-bar); }
.day { margin: 0 0 1.2rem; padding-top: .9rem; border-top: 1px solid var(--line); }
.unseen + .day { border-top: 0; padding-top: 0; }
.day h3 { color: var(--quiet); font-size: .9rem; margin-bottom: .5rem; }
.group > p > a { display: inline-block; padding: .15rem 0; min-height: 1.5rem; }
.foot { padding: .5rem .2rem 0; }
.links { list-style: none; display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; margin: 0 0 .6rem; padding: 0; }
.links a { display: inline-block; padding: .15rem 0; min-height: 1.5rem; }
@media (max-width: 36rem) {
  body { padding: 0 .85rem 2rem; }
  .top { padding: 1.2rem .2rem .9rem; }
  .banner, .group { padding: 1rem; }
  .banner h2 { font-size: 1.15rem; }
  .wide { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .bar { height: 1.9rem; }
}
@media (forced-colors: active) { .bar { forced-color-adjust: none; } .banner, .group { border: 1px solid; } }
@media print { .banner { background: none; color: inherit; border: 1px solid; } .skip, .links { display: none; } body { max-width: none; } .group { break-inside: avoid; box-shadow: none; } }
`
