import { expect, test } from 'vitest'
import { parseSelector, SelectorError } from './selector.ts'

test.each([
  ['team=shop', { team: 'shop' }, true],
  ['team==shop', { team: 'shop' }, true],
  ['team = shop', { team: 'desk' }, false],
  ['team=', { team: '' }, true],
  ['team=shop', {}, false],
  ['team!=shop', { team: 'desk' }, true],
  ['team!=shop', {}, true],
  ['team!=shop', { team: 'shop' }, false],
  ['team in (shop, desk)', { team: 'desk' }, true],
  ['team in (shop,desk)', { team: 'cart' }, false],
  ['team in (shop)', {}, false],
  ['team notin (shop,desk)', { team: 'cart' }, true],
  ['team notin (shop)', {}, true],
  ['team notin (shop)', { team: 'shop' }, false],
  ['team', { team: '' }, true],
  ['team', { tier: '1' }, false],
  ['!team', {}, true],
  ['! team', { team: 'shop' }, false],
  [' team=shop , tier in (1,2),!old', { team: 'shop', tier: '2' }, true],
  ['team=shop,tier=1', { team: 'shop', tier: '2' }, false],
  ['toString', {}, false],
  ['!constructor', {}, true],
  ['example.com/team=shop', { 'example.com/team': 'shop' }, true],
])('%j chooses %j: %s', (text, labels: Record<string, string>, isChosen) => {
  expect(parseSelector(text)(labels)).toBe(isChosen)
})

test.each([
  ['', 'expected the name of a label, found the end at column 1'],
  ['=shop', 'expected the name of a label, found "=" at column 1'],
  ['team=shop,', 'expected the name of a label, found the end at column 11'],
  ['team=shop tier=1', 'expected a comma, found "t" at column 11'],
  ['team is shop', 'expected =, !=, in or notin after team, found is'],
  ['team in shop', 'expected (, found "s" at column 9'],
  ['team in ()', 'expected a value, found ")" at column 10'],
  ['team in (shop', 'expected a comma or ), found the end at column 14'],
  ['!', 'expected the name of a label, found the end at column 2'],
])('%j is refused: %s', (text, message) => {
  expect(() => parseSelector(text)).toThrow(new SelectorError(message))
})
