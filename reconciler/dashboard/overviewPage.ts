import { type Html, html } from '../../web/html.ts'
import { CONDITIONS, TONES, type Tone } from '../controller/status/conditions.ts'
import { countText } from '../controller/status/labels.ts'
import { servicesOutOfSync } from '../controller/status/servicesOutOfSync.ts'
import type { SetStatus } from '../controller/status/status.ts'
import { counted, shortened } from '../text/counts.ts'
import {
  ATTENTION_MAX,
  NAME_CHARS_MAX,
  SETS_ALL_WHOLE_MAX,
  SETS_IN_TABLE_MAX,
  SETS_WHOLE_MAX,
} from './bounds.ts'
import { framed } from './frame.ts'
import { conditionLabel, icon } from './icons.ts'
import { serviceList } from './serviceList.ts'
import { shortSha } from './setFacts.ts'
import { setSheet, totalOf } from './setSheet.ts'
import { tableOf } from './table.ts'
import { timeElement } from './time.ts'
import type { PageRequest } from './viewer.ts'

/** The first page: all sets, the most urgent first. Pure. */
export function overviewPage(request: PageRequest): string {
  const { status } = request
  const sets = [...status.sets].sort((a, b) => urgencyOf(a) - urgencyOf(b))
  const isCrowded = sets.length > SETS_ALL_WHOLE_MAX
  const whole = sets.filter((set) => !isCrowded || !isQuiet(set)).slice(0, SETS_WHOLE_MAX)
  const perSet = Math.max(1, Math.floor(ATTENTION_MAX / Math.max(1, whole.length)))
  const { tone, text } = summaryOf(sets)
  const sheets = whole.map((set) => {
    const setPage = `sets/${encodeURIComponent(set.name)}`
    return setSheet(set, { ...request, setPage, services: attention(set, setPage, perSet) })
  })
  return framed({
    ...request,
    title: `${text} · Pharos`,
    heading: html`<h1>${icon(tone)}${text}</h1>`,
    root: './',
    self: './',
    content: html`${sets.length > 1 && setTable(sets, status.at)}
${sheets}
${isCrowded && whole.length < sets.length && html`<p class="quiet">${sets.length - whole.length === 1 ? 'The other set in the table has a page of its own' : `The other ${counted(sets.length - whole.length, 'set')} in the table have pages of their own`}.</p>`}
${sets.length === 0 && html`<p>There is no set in the configuration.</p>`}`,
  })
}

/** Whether a set needs no details beside the table. */
function isQuiet({ headline, counts }: SetStatus): boolean {
  return CONDITIONS[headline].tone === 'good' && totalOf(counts) === counts.Synced
}

function urgencyOf({ headline }: SetStatus): number {
  return TONES.indexOf(CONDITIONS[headline].tone)
}

/** One line about the overall state, for the heading and the title. */
function summaryOf(sets: readonly SetStatus[]): { readonly tone: Tone; readonly text: string } {
  const tones = sets.map(({ headline }) => CONDITIONS[headline].tone)
  const worst = TONES.find((tone) => tones.includes(tone)) ?? 'good'
  const urgent = tones.filter((tone) => tone === 'bad' || tone === 'warn').length
  const followed = sets.filter(({ role }) => role === 'follower').length
  const starting = sets.filter(({ conditions }) => conditions.some(({ type }) => type === 'Starting')).length
  const [only, ...others] = sets
  const whose = (count: number, one: string, several: string): string =>
    `${others.length === 0 ? only?.name : `${countText(count)} of ${countText(sets.length)} sets`} ${count === 1 ? one : several}`
  if (urgent > 0) return { tone: worst, text: whose(urgent, 'needs attention', 'need attention') }
  // Of these sets this replica does not know whether anything is wrong.
  if (followed > 0)
    return { tone: worst, text: whose(followed, 'is led by another replica', 'are led by another replica') }
  if (starting > 0) return { tone: worst, text: whose(starting, 'has no result yet', 'have no result yet') }
  if (worst === 'wait') return { tone: worst, text: CHANGES_WAIT }
  if (worst === 'busy') return { tone: worst, text: 'Nothing is wrong; work is under way' }
  // Services that are paused before their deletion leave a set ready.
  if (!sets.every(isQuiet)) return { tone: 'wait', text: CHANGES_WAIT }
  return { tone: worst, text: 'Every service matches git' }
}

const CHANGES_WAIT = 'Nothing is wrong; some changes wait'

function setTable(sets: readonly SetStatus[], at: string): Html {
  const left = sets.length - SETS_IN_TABLE_MAX
  return html`<section class="sheet" aria-labelledby="all-sets"><h2 id="all-sets">Sets</h2>
<div class="scroll">${tableOf({
    caption: `${counted(sets.length, 'set')}, the most urgent first`,
    columns: ['Set', 'Condition', 'Services', 'Commit', 'Last run', 'Next run'],
    rows: sets.slice(0, SETS_IN_TABLE_MAX).map((set) => setRow(set, at)),
  })}</div>
${left > 0 && html`<p class="quiet">${countText(left)} more: see status.json.</p>`}</section>`
}

function setRow(set: SetStatus, at: string): readonly Html[] {
  const { role, commit, lastRun, nextRunAt, running, counts } = set
  const total = totalOf(counts)
  const progress = [
    html`${countText(counts.Synced)} of ${countText(total)} match git`,
    commit === null ? html`none` : shortSha(commit.sha),
    lastRun === null ? html`none` : timeElement(lastRun.finishedAt, at),
    running !== null ? html`under way` : nextRunAt === null ? html`not planned` : timeElement(nextRunAt, at),
  ]
  return [
    html`<a href="sets/${encodeURIComponent(set.name)}">${shortened(set.name, NAME_CHARS_MAX)}</a>`,
    conditionLabel(set.headline),
    ...(role === 'follower' ? Array.from({ length: 4 }, () => html`see the leader`) : progress),
  ]
}

/** The first services that do not match git; the page of the set has all of them. */
function attention(set: SetStatus, setPage: string, max: number): Html {
  const { counts } = set
  const odd = totalOf(counts) - counts.Synced
  if (odd === 0) return html``
  const shown = servicesOutOfSync(set.services, max)
  return html`<h3>Services that do not match git</h3>
${serviceList(shown, set)}
${odd > shown.length && html`<p class="pages"><a href="${setPage}">All ${countText(odd)} of them</a></p>`}`
}
