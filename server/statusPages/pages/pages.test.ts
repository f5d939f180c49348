import { expect, test } from 'vitest'
import { plainText } from '../../../web/plainText.ts'
import { dayText, durationText, monthText } from '../../../web/times.ts'
import type { StateSeconds } from '../../results/history/daySeconds.ts'
import type { PublicHistory } from '../view/publicPage.ts'
import { historyBar, problemList } from './history.ts'
import { plannedWindow } from './incidents.ts'

const none: StateSeconds = { up: 0, degraded: 0, down: 0, unknown: 0, paused: 0, maintenance: 0 }

function component(days: readonly (StateSeconds | null)[]): PublicHistory {
  return {
    ...{ uptime: null, uptimeDays: 0 },
    days: days.map((seconds, index) => ({ day: `2026-11-${String(index + 1).padStart(2, '0')}`, seconds })),
  }
}

test('a short problem takes a fifth of its day in the bar, a long one its share, and days without data are grey', () => {
  const bar = historyBar(
    component([
      { ...none, up: 86_280, down: 120 },
      { ...none, up: 43_200, down: 43_200 },
      { ...none, down: 86_400 },
      { ...none, maintenance: 80_000, unknown: 6_400 },
      { ...none, paused: 86_400 },
      { ...none, unknown: 86_400 },
      null,
    ]),
  ).toString()

  const shapes = [...bar.matchAll(/class="d-(\w+)" d="([^"]+)"/g)].map(([, name, path]) => [name, path])
  expect(shapes).toEqual([
    ['operational', 'M0 0h4v27.2h-4zM6 0h4v17h-4z'],
    ['down', 'M0 27.2h4v6.8h-4zM6 17h4v17h-4zM12 0h4v34h-4z'],
    ['maintenance', 'M18 0h4v34h-4z'],
    ['paused', 'M24 0h4v34h-4z'],
    ['unknown', 'M30 0h4v34h-4z'],
    ['none', 'M36 0h4v34h-4z'],
  ])
})

test('every day with a problem or a gap is also listed as text, the newest first', () => {
  const list = problemList(
    component([
      { ...none, up: 80_000, down: 720, degraded: 240 },
      { ...none, up: 86_300, unknown: 100 },
      { ...none, up: 80_000, maintenance: 3_600, paused: 60, unknown: 600 },
    ]),
    'Checkout',
  ).toString()

  expect([...list.matchAll(/<li>([^<]*)<\/li>/g)].map(([, text]) => text)).toEqual([
    '3 Nov: maintenance 1 h, paused 1 min, no results for 10 min',
    '1 Nov: down 12 min, degraded 4 min',
  ])
  expect(list).toContain('>1 day with problems<span')
  expect(problemList(component([{ ...none, up: 86_400 }]), 'Checkout').toString()).toContain('No problems')
  expect(problemList(component([{ ...none, up: 80_000, paused: 6_400 }]), 'Checkout').toString()).toContain(
    'No problems, 1 day with gaps',
  )
  const withoutResults = [
    [null],
    [null, { ...none, unknown: 60_000 }],
    [
      { ...none, unknown: 86_400 },
      { ...none, paused: 86_400 },
    ],
  ].map((days) => /No [^<]*/.exec(problemList(component(days), 'Checkout').toString())?.[0])
  expect(withoutResults).toEqual([
    'No results in the days shown.',
    'No results in the days shown.',
    'No results, 2 days with gaps',
  ])
})

test('the time before a service was created is no gap', () => {
  const list = (...days: Parameters<typeof component>[0]) =>
    problemList(component(days), 'Checkout').toString()
  const created = { ...none, up: 3_600, down: 60, unknown: 60_000 }

  expect(list(null, { ...created, down: 0 })).toContain('No problems in the days shown.')
  expect(list(null, created)).toContain('<li>2 Nov: down 1 min</li>')
  expect(list(null, created, created)).toContain('<li>3 Nov: down 1 min, no results for 16 h 40 min</li>')
})

test('each name of a list has its own writing direction', () => {
  const window = { id: 'w', title: 'Upgrade', updatedAt: '', components: ['البحث', 'Checkout', 'Login'] }
  const times = { startsAt: '2026-11-24T22:00:00.000Z', endsAt: '2026-11-24T23:00:00.000Z' }

  expect(plannedWindow({ ...window, ...times }, 0).toString()).toContain(
    'Affects <bdi>البحث</bdi>, <bdi>Checkout</bdi> and <bdi>Login</bdi></p>',
  )
})

test('durations have at most two units', () => {
  expect([0, 29, 60, 3_600, 3_900, 90_000, 93_600 + 60, 864_000].map(durationText)).toEqual([
    ...[
      'less than a minute',
      'less than a minute',
      '1 min',
      '1 h',
      '1 h 5 min',
      '1 d 1 h',
      '1 d 2 h',
      '10 d',
    ],
  ])
  expect([dayText('2026-01-09'), monthText('2026-11')]).toEqual(['9 Jan', 'November 2026'])
})

test('only web URLs become links, without the punctuation after them', () => {
  const text = 'See https://example.org/a?b=1&c=2). javascript:alert(1) http://user:pw@evil.example <b>'

  expect(plainText(text).toString()).toBe(
    '<p class="text">See <a href="https://example.org/a?b=1&amp;c=2" rel="nofollow noopener noreferrer">' +
      'https://example.org/a?b=1&amp;c=2</a>). javascript:alert(1) http://user:pw@evil.example &lt;b&gt;</p>',
  )
})

test('a URL with letters such as ü in its host becomes a link, however many URLs were parsed before', () => {
  const text = 'https://für.example/'
  // Node 20 compiles URL.canParse after some ten thousand calls, and it refuses such hosts from then on.
  for (let call = 0; call < 100_000; call += 1) URL.canParse(text)

  expect(plainText(text).toString()).toContain('<a href="https://xn--fr-xka.example/"')
})
