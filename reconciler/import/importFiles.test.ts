import { expect, test } from 'vitest'
import { ASSERTION_LAYOUTS, type AssertionKind } from '../../api/contract/assertion.ts'
import { KINDS } from '../../provider/service/schema/assertionKinds.ts'
import { assertionFormSchema, compileAssertion } from '../manifest/schema/assertionForm.ts'
import type { ImportFormat } from './formats.ts'
import { importFiles } from './importFiles.ts'
import { UnreadableSource } from './sourceValue.ts'
import { monitorRows } from './uptimeKumaDatabase.ts'

/** The specs of the manifests by name, and the notes as `line:column: message`. */
function read(format: ImportFormat, ...texts: readonly string[]) {
  const files = texts.map((text, index) => ({ file: `${index + 1}.yml`, text }))
  const { manifests, notes } = importFiles(format, files, ['eu-west-1'])
  return {
    specs: Object.fromEntries(manifests.map(({ key, manifest }) => [key, Object(manifest).spec])),
    labels: Object.fromEntries(manifests.map(({ key, manifest }) => [key, Object(manifest).metadata.labels])),
    notes: notes.map(({ file, line, column, message }) => `${file}:${line}:${column}: ${message}`),
  }
}

const GATUS = `default: &usual
  interval: 90s
  client: {timeout: 500ms, ignore-redirect: true}
endpoints:
  - <<: *usual
    name: front page
    group: Shop
    url: "https://shop.example/"
    headers:
      Authorization: "Bearer canary-2"
      X-Trace: "on"
      X-Api-Key: "\${SHOP_KEY}"
    conditions:
      - "[STATUS] < 300"
      - "[RESPONSE_TIME] <= 300"
      - "[BODY] == pat(*welcome*)"
      - "[BODY] == pat(a*b.c)"
      - "[BODY].status == UP"
      - "[CERTIFICATE_EXPIRATION] > 48h"
  - name: names
    url: "8.8.8.8"
    dns: {query-name: example.org, query-type: A}
  - name: socket
    url: tcp://shop.example:25
  - name: any
    enabled: false
    interval: 1500ms
    url: https://shop.example/any
    method: POST
    body: '{"a": 1}'
    conditions: ["[STATUS] == any(200, 429)", "[CONNECTED] == true"]
  - name: head
    url: https://shop.example/
    method: HEAD
  - name: put
    url: https://shop.example/
    method: PUT
  - name: silent
    url: https://shop.example/silent
    conditions: ["[BODY] == ok"]
  - name: query
    url: https://shop.example/?api_key=canary-3
  - name: variable
    url: https://\${HOST}/
`

test('endpoints of Gatus become services with their conditions, and features without an equivalent are named at their place', () => {
  const { specs, labels, notes } = read('gatus', GATUS)

  expect(specs['shop-front-page']).toEqual({
    name: 'Shop front page',
    interval: '1m30s',
    regions: ['eu-west-1'],
    endpoints: [
      {
        url: 'https://shop.example/',
        timeout: '500ms',
        maxRedirects: 0,
        headers: {
          Authorization: { env: 'FRONT_PAGE_AUTHORIZATION', prefix: 'Bearer ' },
          'X-Trace': 'on',
          'X-Api-Key': { env: 'SHOP_KEY' },
        },
        assertions: [
          { status: { lt: 300 } },
          { latency: { total: '<= 300ms' } },
          { body: { contains: 'welcome' } },
          { body: { regex: '^\\s*a[\\s\\S]*b\\.c\\s*$' } },
        ],
      },
    ],
  })
  expect(labels['shop-front-page']).toEqual({ group: 'shop' })
  expect(specs.any).toMatchObject({
    paused: true,
    interval: '2s',
    endpoints: [{ method: 'POST', body: '{"a": 1}', assertions: [{ status: { oneOf: [200, 429] } }] }],
  })
  expect(specs.silent.endpoints[0].assertions).toEqual([
    { status: { gte: 100 } },
    { body: { regex: '^\\s*ok\\s*$' } },
  ])
  expect(Object.keys(specs)).toEqual(['any', 'head', 'shop-front-page', 'silent'])
  expect(notes).toEqual([
    '1.yml:10:23: the value of Authorization is not copied: set the environment variable FRONT_PAGE_AUTHORIZATION',
    '1.yml:18:10: left out: Pharos has no assertion on values inside JSON: [BODY].status == UP',
    '1.yml:19:10: left out: Pharos watches the expiry of every certificate, and notifies the channels',
    '1.yml:22:10: names is left out: Pharos checks HTTP only, not dns',
    '1.yml:24:10: socket is left out: Pharos checks HTTP only, not tcp',
    '1.yml:27:15: the interval is rounded up to 2 s: intervals are whole seconds',
    '1.yml:34:13: the method HEAD becomes GET, which has the same status',
    '1.yml:37:13: put is left out: Pharos sends GET and POST, not PUT',
    '1.yml:42:10: query is left out: its URL has a secret in its query or fragment (api_key): send it as a header',
    '1.yml:44:10: variable is left out: its URL contains a variable: write the value into the file, or use an Environment afterwards',
  ])
  expect(JSON.stringify({ specs, notes })).not.toContain('canary')
})

const MODULES = `modules:
  http_login:
    prober: http
    timeout: 5s
    http:
      method: POST
      headers: {Content-Type: application/json}
      body: '{"password": "canary-2"}'
      valid_status_codes: [200, 201]
      fail_if_body_not_matches_regexp: ["token"]
      fail_if_header_not_matches: [{header: Server, regexp: nginx}]
      fail_if_body_matches_regexp: ["error"]
      no_follow_redirects: true
      basic_auth: {username: probe, password: canary-1}
  ping: {prober: icmp}
`
const PROMETHEUS = `global: {scrape_interval: 30s}
scrape_configs:
  - job_name: Shop pages
    metrics_path: /probe
    params: {module: [http_2xx]}
    static_configs:
      - targets: ["https://shop.example/", shop.example/help]
        labels: {team: web}
  - job_name: login
    metrics_path: /probe
    scrape_interval: 1m
    params: {module: [http_login]}
    static_configs: [{targets: ["https://shop.example/login"]}]
  - job_name: hosts
    metrics_path: /probe
    params: {module: [ping]}
    static_configs: [{targets: [10.0.0.1]}]
  - job_name: node
    static_configs: [{targets: ["localhost:9100"]}]
---
apiVersion: monitoring.coreos.com/v1
kind: Probe
metadata: {name: api}
spec:
  interval: 15s
  module: http_missing
  targets: {staticConfig: {static: ["https://api.example/"]}}
`

test('targets of blackbox_exporter become services with the settings of their modules', () => {
  const { specs, labels, notes } = read('blackbox', MODULES, PROMETHEUS)

  expect(specs['shop.example-login']).toEqual({
    name: 'shop.example/login',
    interval: '1m',
    regions: ['eu-west-1'],
    endpoints: [
      {
        url: 'https://shop.example/login',
        method: 'POST',
        timeout: '5s',
        maxRedirects: 0,
        headers: {
          'Content-Type': 'application/json',
          Authorization: { env: 'HTTP_LOGIN_AUTHORIZATION', prefix: 'Basic ' },
        },
        body: { env: 'HTTP_LOGIN_BODY' },
        assertions: [
          { status: { between: [200, 201] } },
          { body: { regex: 'token' } },
          { header: { name: 'Server', regex: 'nginx' } },
        ],
      },
    ],
  })
  expect(specs['shop.example']).toMatchObject({
    interval: '30s',
    endpoints: [{ assertions: [{ status: '2xx' }] }],
  })
  expect(labels['shop.example']).toEqual({ job: 'shop-pages', team: 'web' })
  expect(specs['shop.example-help'].endpoints[0].url).toBe('http://shop.example/help')
  expect(Object.keys(specs)).toEqual(['shop.example', 'shop.example-help', 'shop.example-login'])
  expect(notes).toEqual([
    '1.yml:8:14: the body is not copied, because it may contain a secret: set the environment variable HTTP_LOGIN_BODY',
    '1.yml:12:36: left out: no equivalent of fail_if_body_matches_regexp',
    '1.yml:14:19: the secret is not copied: set HTTP_LOGIN_AUTHORIZATION to the Base64 of user:password',
    '2.yml:17:33: 10.0.0.1 is left out: Pharos checks HTTP only, not icmp',
    '2.yml:27:38: https://api.example/ is left out: these files have no module http_missing',
  ])
})

const MONITORS: readonly Readonly<Record<string, string | number>>[] = [
  {
    ...{ id: 1, name: 'Front page', type: 'keyword', url: 'https://shop.example/', active: 1, interval: 60 },
    ...{ timeout: 48, maxredirects: 10, accepted_statuscodes_json: '["200-299"]', keyword: 'welcome' },
    ...{ method: 'GET', headers: '{"X-Trace": "on", "Cookie": "canary-1"}', invert_keyword: 0 },
  },
  { id: 2, name: 'Router', type: 'ping', hostname: '10.0.0.1' },
  { id: 3, name: 'Old', type: 'http', url: 'https://old.example/', active: 0, upside_down: 1 },
  {
    ...{ id: 4, name: 'API', type: 'http', url: 'https://api.example/', active: 0, interval: 20 },
    ...{
      accepted_statuscodes_json: '["200", "301-302"]',
      auth_method: 'basic',
      basic_auth_user: 'probe',
      basic_auth_pass: 'canary-2',
    },
  },
]

test('monitors of Uptime Kuma become the same services from its database and from its export', () => {
  const { specs, notes } = read('uptime-kuma', monitorRows(MONITORS))
  const exported = MONITORS.map(({ accepted_statuscodes_json: codes, ...monitor }) => ({
    ...monitor,
    active: monitor.active === 1,
    accepted_statuscodes: codes === undefined ? undefined : JSON.parse(String(codes)),
  }))

  expect(specs['front-page']).toEqual({
    name: 'Front page',
    interval: '1m',
    regions: ['eu-west-1'],
    endpoints: [
      {
        url: 'https://shop.example/',
        timeout: '48s',
        maxRedirects: 10,
        headers: { 'X-Trace': 'on', Cookie: { env: 'FRONT_PAGE_COOKIE' } },
        assertions: [{ status: '2xx' }, { body: { contains: 'welcome' } }],
      },
    ],
  })
  expect(specs.api).toMatchObject({
    paused: true,
    endpoints: [
      {
        headers: { Authorization: { env: 'API_AUTHORIZATION', prefix: 'Basic ' } },
        assertions: [{ status: { oneOf: [200, 301, 302] } }],
      },
    ],
  })
  expect(notes.map((note) => note.replace(/:(\d+):\d+:/, ':$1:'))).toEqual([
    '1.yml:1: the value of Cookie is not copied: set the environment variable FRONT_PAGE_COOKIE',
    '1.yml:2: Router is left out: Pharos checks HTTP only, not ping',
    '1.yml:3: Old is left out: no equivalent of "upside down"',
    '1.yml:4: the password of API is not copied: set API_AUTHORIZATION to the Base64 of user:password',
  ])
  expect(read('uptime-kuma', JSON.stringify({ version: '1.23.0', monitorList: exported })).specs).toEqual(
    specs,
  )
  expect(JSON.stringify({ specs, notes })).not.toContain('canary')
})

test('groups, tags, authentication and bodies of Uptime Kuma are carried over or named', () => {
  const http = { type: 'http', url: 'https://shop.example/', active: 1, interval: 60, maxretries: 2 }
  const left = { basic_auth_user: 'left', basic_auth_pass: 'canary-1' }
  const { specs, labels, notes } = read(
    'uptime-kuma',
    monitorRows([
      { id: 1, name: 'Home lab', type: 'group', active: 0 },
      { id: 2, name: 'Rooms', type: 'group', active: 1, parent: 1 },
      {
        ...http,
        id: 3,
        name: 'Site',
        parent: 2,
        timeout: 0,
        tags: [{ name: 'Team', value: 'web' }],
        ...left,
      },
      {
        ...http,
        id: 4,
        name: 'Plain',
        auth_method: '',
        ...left,
        accepted_statuscodes_json: '["200-299","300-399"]',
      },
      {
        ...http,
        id: 5,
        name: 'Token',
        auth_method: 'bearer',
        bearer_token: 'canary-2',
        interval: 90,
        timeout: 72,
      },
      {
        ...http,
        id: 6,
        name: 'Keys',
        auth_method: 'mtls',
        tls_key: 'canary-3',
        notificationIDList: { 1: true },
      },
      { ...http, id: 7, name: 'Form', method: 'POST', http_body_encoding: 'form', body: 'a=b' },
      { ...http, id: 8, name: 'Json', type: 'json-query', json_path: 'status', expected_value: 'ok' },
    ]),
  )

  expect(Object.entries(specs).map(([key, { paused = false }]) => [key, paused, labels[key]])).toEqual([
    ['form', false, undefined],
    ['json', false, undefined],
    ['keys', false, undefined],
    ['plain', false, undefined],
    ['site', true, { group: 'rooms', team: 'web' }],
    ['token', false, undefined],
  ])
  expect(specs.site.endpoints[0]).toMatchObject({
    timeout: '48s',
    headers: { Authorization: { env: 'SITE_AUTHORIZATION', prefix: 'Basic ' } },
  })
  expect(specs.plain.endpoints[0]).toEqual({
    url: 'https://shop.example/',
    assertions: [{ status: { between: [200, 399] } }],
  })
  expect(specs.token.endpoints[0]).toMatchObject({
    timeout: '1m',
    headers: { Authorization: { env: 'TOKEN_AUTHORIZATION', prefix: 'Bearer ' } },
  })
  expect(specs.form.endpoints[0]).toMatchObject({
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: 'a=b',
  })
  expect(notes.map((note) => note.replace(/:(\d+):\d+:/, ':$1:'))).toEqual([
    '1.yml:3: the password of Site is not copied: set SITE_AUTHORIZATION to the Base64 of user:password',
    '1.yml:3: retries: Pharos repeats a failed check once (here and in 5 other places)',
    '1.yml:5: the token of Token is not copied: set the environment variable TOKEN_AUTHORIZATION',
    '1.yml:5: the timeout is reduced to 60 s, the maximum',
    '1.yml:6: left out: Keys signs in by mtls, which has no equivalent',
    '1.yml:6: left out: notifications: create channels (pharos-server channel create)',
    '1.yml:8: left out: Pharos has no assertion on values inside JSON: status',
  ])
  expect(JSON.stringify({ specs, notes })).not.toContain('canary')
})

test('monitors of UptimeRobot become services', () => {
  const { specs, notes } = read(
    'uptimerobot',
    `{"stat": "ok", "monitors": [
  {"id": 1, "friendly_name": "Shop", "url": "https://shop.example/", "type": 2, "interval": 300, "status": 0, "timeout": 30,
   "keyword_type": 2, "keyword_value": "welcome", "http_method": 1, "http_username": "probe", "http_password": "canary-1"},
  {"id": 2, "friendly_name": "Errors", "url": "https://shop.example/e", "type": 2, "keyword_type": 1, "keyword_value": "error"},
  {"id": 3, "friendly_name": "Mail", "url": "mail.example", "type": 4, "port": 25}]}`,
  )

  expect(specs.shop).toEqual({
    name: 'Shop',
    interval: '5m',
    regions: ['eu-west-1'],
    paused: true,
    endpoints: [
      {
        url: 'https://shop.example/',
        timeout: '30s',
        maxRedirects: 10,
        headers: { Authorization: { env: 'SHOP_AUTHORIZATION', prefix: 'Basic ' } },
        assertions: [{ body: { contains: 'welcome' } }],
      },
    ],
  })
  expect(specs.errors.endpoints[0].assertions).toBeUndefined()
  expect(notes.map((note) => note.replace(/:(\d+):\d+:/, ':$1:'))).toEqual([
    '1.yml:3: the password of Shop is not copied: set SHOP_AUTHORIZATION to the Base64 of user:password',
    '1.yml:4: left out: Pharos has no assertion that a text is absent',
    '1.yml:5: Mail is left out: Pharos checks HTTP only, not port',
  ])
  expect(JSON.stringify({ specs, notes })).not.toContain('canary')
})

test('responses of both versions of the UptimeRobot API are read', () => {
  const earlier = read(
    'uptimerobot',
    `{"stat": "ok", "pagination": {"offset": 0, "limit": 50, "total": 3}, "monitors": [
  {"id": 1, "friendly_name": "Tom &amp; Co", "url": "https://shop.example/?a=1&amp;b=2", "type": 1, "sub_type": "",
   "keyword_type": null, "keyword_value": "", "http_username": "", "http_password": "", "port": "80", "interval": 900,
   "status": 2, "create_datetime": 1462565497, "logs": [{"type": 98, "datetime": 1463540297, "duration": 1054134}]}]}`,
  )
  const current = read(
    'uptimerobot',
    `{"nextLink": null, "data": [
  {"id": 1, "friendlyName": "Shop", "type": "KEYWORD", "url": "https://shop.example/", "interval": 300, "status": "PAUSED",
   "timeout": 30, "keywordType": "ALERT_NOT_EXISTS", "keywordValue": "a.b", "keywordCaseType": 1, "httpMethodType": "HEAD",
   "successHttpResponseCodes": ["2xx", "3xx"], "followRedirections": false, "responseTimeThreshold": 900,
   "customHttpHeaders": {"x-api-key": "canary-1"}, "tags": [{"id": 7, "name": "Web shop"}],
   "assignedAlertContacts": [{"alertContactId": "5"}], "authType": "BEARER", "httpPassword": "canary-2"},
  {"id": 2, "friendlyName": "Orders", "type": "API", "url": "https://shop.example/o", "interval": 60, "status": "UP",
   "httpMethodType": "POST", "postValueType": "RAW_JSON", "postValueData": {"a": 1},
   "config": {"apiAssertions": {"logic": "AND", "checks": [{"property": "$.status"}]}}},
  {"id": 3, "friendlyName": "Form", "type": "HTTP", "url": "https://shop.example/f", "interval": 60, "status": "UP",
   "httpMethodType": "POST", "postValueType": "KEY_VALUE", "postValueData": {"a": "b c"}},
  {"id": 4, "friendlyName": "Names", "type": "DNS", "url": "shop.example"}]}`,
  )

  expect(earlier.specs['tom-co']).toMatchObject({
    name: 'Tom & Co',
    endpoints: [{ url: 'https://shop.example/?a=1&b=2' }],
  })
  expect(earlier.notes).toEqual(['1.yml:1:30: left out: 2 monitors are on further pages: pass all pages'])
  expect(current.specs.shop).toEqual({
    name: 'Shop',
    interval: '5m',
    regions: ['eu-west-1'],
    paused: true,
    endpoints: [
      {
        url: 'https://shop.example/',
        timeout: '30s',
        maxRedirects: 0,
        headers: {
          'x-api-key': { env: 'SHOP_X_API_KEY' },
          Authorization: { env: 'SHOP_AUTHORIZATION', prefix: 'Bearer ' },
        },
        assertions: [
          { status: { between: [200, 399] } },
          { body: { regex: '(?i)a\\.b' } },
          { latency: { total: '<= 900ms' } },
        ],
      },
    ],
  })
  expect(current.labels.shop).toEqual({ 'web-shop': '' })
  expect(current.specs.orders.endpoints[0]).toMatchObject({
    headers: { 'Content-Type': 'application/json' },
    body: '{"a":1}',
  })
  expect(current.specs.form.endpoints[0]).toMatchObject({
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: 'a=b+c',
  })
  expect(current.notes.map((note) => note.replace(/:(\d+):\d+:/, ':$1:'))).toEqual([
    '1.yml:2: the token of Shop is not copied: set the environment variable SHOP_AUTHORIZATION',
    '1.yml:5: the value of x-api-key is not copied: set the environment variable SHOP_X_API_KEY',
    '1.yml:6: left out: alert contacts: create channels (pharos-server channel create)',
    '1.yml:9: left out: Pharos has no assertion on values inside JSON',
    '1.yml:12: Names is left out: Pharos checks HTTP only, not dns',
  ])
  expect(JSON.stringify(current)).not.toContain('canary')
})

test.each([1, 'CaseInsensitive'])(
  'a keyword of UptimeRobot with the case type %s ignores case',
  (keywordCaseType) => {
    const monitor = { friendlyName: 'A', url: 'https://shop.example/', type: 'KEYWORD', keywordCaseType }

    const { specs } = read(
      'uptimerobot',
      JSON.stringify({ data: [{ ...monitor, keywordType: 'ALERT_NOT_EXISTS', keywordValue: 'ok' }] }),
    )

    expect(specs.a.endpoints[0].assertions).toEqual([{ body: { regex: '(?i)ok' } }])
  },
)

test('API checks of Checkly become services with their assertions', () => {
  const { specs, notes } = read(
    'checkly',
    `[{"name": "Orders", "checkType": "API", "activated": true, "frequency": 0, "maxResponseTime": 2000,
  "request": {"method": "POST", "url": "https://api.example/orders", "followRedirects": false, "body": "{}",
    "headers": [{"key": "Authorization", "value": "Bearer {{TOKEN}} canary-1"}, {"key": "Accept", "value": "application/json"}],
    "assertions": [
      {"source": "STATUS_CODE", "comparison": "LESS_THAN", "target": "300", "property": ""},
      {"source": "HEADERS", "comparison": "CONTAINS", "target": "json", "property": "Content-Type"},
      {"source": "JSON_BODY", "comparison": "EQUALS", "target": "1", "property": "$.id"}]}},
 {"name": "Login", "checkType": "BROWSER"}]`,
  )

  expect(specs).toEqual({
    orders: {
      name: 'Orders',
      interval: '30s',
      regions: ['eu-west-1'],
      endpoints: [
        {
          url: 'https://api.example/orders',
          method: 'POST',
          maxRedirects: 0,
          headers: {
            Authorization: { env: 'ORDERS_AUTHORIZATION', prefix: 'Bearer ' },
            Accept: 'application/json',
          },
          body: '{}',
          assertions: [
            { status: { lt: 300 } },
            { header: { name: 'Content-Type', contains: 'json' } },
            { latency: { total: '<= 2000ms' } },
          ],
        },
      ],
    },
  })
  expect(notes.map((note) => note.replace(/:(\d+):\d+:/, ':$1:'))).toEqual([
    '1.yml:1: the interval is below a minute there: 30 s is used',
    '1.yml:3: the value of Authorization is not copied: set the environment variable ORDERS_AUTHORIZATION',
    '1.yml:7: left out: no equivalent of JSON_BODY $.id EQUALS 1',
    '1.yml:8: Login is left out: Pharos checks HTTP only, not BROWSER',
  ])
  expect(JSON.stringify({ specs, notes })).not.toContain('canary')
})

test('a single check is read from a response of the Checkly API, with parameters, tags and seconds', () => {
  const check = (fields: string, request = '') => `{"name": "Shop", "checkType": "API", "frequency": 0,
 "frequencyOffset": 20, "tags": ["web"], "locations": ["eu-west-1"], "groupId": null, "localSetupScript": "",
 "retryStrategy": {"type": "FIXED", "maxRetries": 1}, "degradedResponseTime": 15000, ${fields}
 "request": {"method": "GET", "url": "https://shop.example/a?x=1", "body": "", "bodyType": "NONE", "headers": [],
 "assertions": [], "basicAuth": {"username": "", "password": ""}, "followRedirects": true ${request}}}`
  const { specs, labels, notes } = read(
    'checkly',
    check('', ', "queryParameters": [{"key": "q", "value": "b c"}]'),
  )
  const failing = read('checkly', check('"shouldFail": true,'))
  const variable = read('checkly', check('', ', "queryParameters": [{"key": "q", "value": "{{Q}}"}]'))
  const keyed = read('checkly', check('', ', "queryParameters": [{"key": "api_key", "value": "canary-1"}]'))
  const posted = read(
    'checkly',
    check('').replace('GET', 'POST').replace('"body": ""', '"body": "{}"').replace('NONE', 'JSON'),
  )

  expect(specs).toEqual({
    shop: {
      name: 'Shop',
      interval: '20s',
      regions: ['eu-west-1'],
      endpoints: [
        { url: 'https://shop.example/a?x=1&q=b+c', maxRedirects: 10, assertions: [{ status: { lt: 400 } }] },
      ],
    },
  })
  expect(labels.shop).toEqual({ web: '' })
  expect(notes.map((note) => note.replace(/:(\d+):\d+:/, ':$1:'))).toEqual([
    '1.yml:2: locations: --region sets the regions',
    '1.yml:3: retries: Pharos repeats a failed check once',
    '1.yml:3: left out: degradedResponseTime: a check is up or down',
  ])
  expect(failing.specs.shop.endpoints[0].assertions).toEqual([{ status: { gte: 400 } }])
  const inPath = read(
    'checkly',
    check('', ', "queryParameters": [{"key": "q", "value": "b"}]').replace('example/a', 'example/{{A}}'),
  )
  expect([variable.specs, inPath.specs, keyed.specs]).toEqual([{}, {}, {}])
  expect(variable.notes.join()).toContain('its URL contains a variable')
  expect(inPath.notes.join()).toContain('its URL contains a variable')
  expect(keyed.notes.join()).toContain('has a secret in its query or fragment (api_key)')
  expect(JSON.stringify(keyed)).not.toContain('canary')
  expect(posted.specs.shop.endpoints[0].headers).toEqual({ 'Content-Type': 'application/json' })
})

test('values that the API would refuse are left out, and the rest is kept', () => {
  const { specs, notes } = read(
    'gatus',
    `endpoints:
  - {name: slow, url: "https://shop.example/", client: {timeout: 5m}, headers: {Connection: a, X-A: b}}
  - {name: "${'a'.repeat(300)}", url: "https://shop.example/"}
`,
  )

  expect(specs.slow.endpoints[0]).toMatchObject({ timeout: '1m', headers: { 'X-A': 'b' } })
  expect(Object.keys(specs)).toEqual(['slow'])
  expect(notes).toEqual([
    '1.yml:2:66: the timeout is reduced to 60 s, the maximum',
    '1.yml:2:93: left out: the header Connection has a name that belongs to the connection and cannot be set',
    expect.stringMatching(/^1\.yml:3:5: a+ is left out: spec\.name must /),
  ])
})

test('an OpenAPI document becomes a service with an endpoint for each GET that needs no parameters', () => {
  const { specs, notes } = read(
    'openapi',
    `openapi: 3.1.0
info: {title: Shop API, version: "1"}
servers: [{url: "https://api.example/v1/"}]
paths:
  /health: {get: {operationId: health, responses: {}}}
  /orders/{id}: {get: {responses: {}}}
  /search: {get: {parameters: [{name: q, in: query, required: true}], responses: {}}}
  /me: {get: {security: [{key: []}], responses: {}}}
  /orders: {post: {responses: {}}}
`,
  )

  expect(specs['shop-api'].endpoints).toEqual([
    { url: 'https://api.example/v1/health', name: 'health', assertions: [{ status: '2xx' }] },
    { url: 'https://api.example/v1/me', name: 'GET /me', assertions: [{ status: '2xx' }] },
  ])
  expect(notes.map((note) => note.split(': ').slice(1).join(': '))).toEqual([
    'GET /orders/{id} is left out: it needs parameters',
    'GET /search is left out: it needs parameters',
    'GET /me needs a credential: add the header to the manifest as { env: NAME }',
  ])
})

test.each([
  [
    'swagger: "2.0"\nhost: api.example\nbasePath: /v1\nschemes: [http, https]',
    'https://api.example/v1/health',
  ],
  ['swagger: "2.0"\nhost: api.example\nschemes: [http]', 'http://api.example/health'],
  [
    'openapi: 3.0.1\nservers: [{url: "{scheme}://api.example/v1", variables: {scheme: {default: https}}}]',
    'https://api.example/v1/health',
  ],
])('the server URL of an OpenAPI document is built from its parts or variables: %s', (head, url) => {
  const { specs, notes } = read('openapi', `${head}\ninfo: {title: API}\npaths: {/health: {get: {}}}\n`)

  expect([specs.api.endpoints[0].url, notes]).toEqual([url, []])
})

test.each([
  ['swagger: "2.0"', '1.yml:1:1: left out: the document has no servers, so its address is unknown: add them'],
  [
    'servers: [{url: /v1}]',
    '1.yml:1:17: the API is left out: its URL must be an absolute http:// or https:// URL',
  ],
  [
    'servers: [{url: "https://{host}/v1"}]',
    '1.yml:1:18: left out: the address has a variable without a default',
  ],
])('an OpenAPI document without a server URL is reported at its place: %s', (text, note) => {
  expect(read('openapi', text)).toMatchObject({ specs: {}, notes: [note] })
})

test('modules of blackbox_exporter with binary queries do not prevent the import of others', () => {
  const { specs, notes } = read(
    'blackbox',
    `modules:
  web: {prober: http}
  database:
    prober: tcp
    tcp: {query_response: [{send: !!binary "AAAACATSFi8=", expect_bytes: !!binary "Tg=="}]}
`,
    `scrape_configs:
  - job_name: probes
    metrics_path: /probe
    params: {module: [web]}
    static_configs: [{targets: ["https://shop.example"]}]
  - job_name: databases
    metrics_path: /probe
    params: {module: [database]}
    static_configs: [{targets: ["db.example:5432"]}]
`,
  )

  expect(Object.keys(specs)).toHaveLength(1)
  expect(notes).toEqual(['2.yml:9:34: db.example:5432 is left out: Pharos checks HTTP only, not tcp'])
})

/** A plan as `terraform show -json` prints it, with `values` of its one service. */
const plan = (values: object, sensitive_values: object = {}): string =>
  JSON.stringify({
    format_version: '1.2',
    planned_values: {
      root_module: {
        resources: [
          { address: 'data.pharos_regions.all', mode: 'data', type: 'pharos_regions', values: {} },
          { address: 'other.one', mode: 'managed', type: 'other', values: { name: 'other' } },
        ],
        child_modules: [
          {
            resources: [
              {
                ...{ address: 'module.a.pharos_service.x', mode: 'managed', type: 'pharos_service' },
                ...{ values, sensitive_values },
              },
            ],
          },
        ],
      },
    },
  })

test('services of a Terraform plan become manifests whose secrets are references', () => {
  const assertions = [
    { status_code: { eq: null, one_of: [200, 204] }, latency: null },
    { status_code: { ne: 404 } },
    { latency: { phase: 'headers', lte: '1s' } },
    { dns_resolution: { between: ['1ms', '50ms'] } },
    { header: { name: 'Server', starts_with: 'nginx' } },
    { body: { regex: 'ok' } },
    {},
  ]
  const http = {
    method: 'POST',
    timeout: '5s',
    max_redirects: 0,
    with_dns: true,
    headers: { Accept: { value: 'text/html' }, 'X-Key': { value: null, value_wo: null } },
    body: { value: null, value_wo: null },
  }
  const { specs, notes } = read(
    'terraform',
    plan({
      ...{ name: 'Shop', interval: '30s', regions: ['us-east-1'], paused: true },
      endpoints: [{ url: 'https://shop.example/', name: 'front', http, assertions }, { http: {} }],
    }),
  )
  const unknown = read('terraform', plan({ name: 'Shop', endpoints: [{ http: {} }] }))
  const nameless = read('terraform', plan({ endpoints: [] }))

  expect(specs).toEqual({
    shop: {
      name: 'Shop',
      interval: '30s',
      regions: ['us-east-1'],
      paused: true,
      endpoints: [
        {
          ...{ url: 'https://shop.example/', name: 'front', method: 'POST', timeout: '5s', maxRedirects: 0 },
          withDns: true,
          headers: { Accept: 'text/html', 'X-Key': { env: 'SHOP_1_X_KEY' } },
          body: { env: 'SHOP_1_BODY' },
          assertions: [
            { status: { oneOf: [200, 204] } },
            { status: { not: 404 } },
            { latency: { headers: '<= 1s' } },
            { dns: '1ms..50ms' },
            { header: { name: 'Server', startsWith: 'nginx' } },
            { body: { regex: 'ok' } },
          ],
        },
      ],
    },
  })
  expect(notes.map((note) => note.replace(/^1\.yml:1:\d+: /, ''))).toEqual([
    'a plan does not contain the secret: set the environment variable SHOP_1_X_KEY',
    'a plan does not contain the secret: set the environment variable SHOP_1_BODY',
    'left out: the assertion is known only after the apply',
    'the endpoint is left out: it has no URL',
  ])
  expect(unknown.notes.join()).toContain('the URLs of its endpoints are known only after the apply')
  expect(nameless.notes.join()).toContain(
    'module.a.pharos_service.x is left out: its name is known only after',
  )
})

test('values that Terraform marks as sensitive are not copied', () => {
  const http = {
    headers: { 'X-A': { value: 'canary' }, 'X-B': { value: 'clear' } },
    body: { value: 'canary' },
  }
  const assertions = [{ body: { contains: 'canary' } }, { status_code: { eq: 200 } }]
  const endpoints = [
    { url: 'https://shop.example/', http, assertions },
    { url: 'https://shop.example/canary', http },
  ]
  const marks = {
    endpoints: [
      {
        http: { headers: { 'X-A': { value: true }, 'X-B': { value_wo: true } }, body: { value: true } },
        assertions: [{ body: { contains: true } }, { status_code: {} }],
      },
      { url: true },
    ],
  }
  const values = { name: 'Shop', regions: ['eu-west-1'], endpoints }

  const { specs, notes } = read('terraform', plan(values, marks))
  const all = read('terraform', plan(values, { endpoints: true }))
  const named = read('terraform', plan(values, { name: true }))

  expect(specs.shop.endpoints).toEqual([
    {
      url: 'https://shop.example/',
      headers: { 'X-A': { env: 'SHOP_1_X_A' }, 'X-B': 'clear' },
      body: { env: 'SHOP_1_BODY' },
      assertions: [{ status: { eq: 200 } }],
    },
  ])
  expect(notes.map((note) => note.replace(/^1\.yml:1:\d+: /, ''))).toEqual([
    'the sensitive value is not copied: set the environment variable SHOP_1_X_A',
    'the sensitive value is not copied: set the environment variable SHOP_1_BODY',
    'left out: the assertion has a sensitive value',
    'the endpoint is left out: its URL is sensitive',
  ])
  expect([all.specs, named.specs]).toEqual([{}, {}])
})

test('an assertion of each kind in a Terraform plan becomes an assertion of the same kind', () => {
  const operands = { integer: { gte: 14 }, duration: { lt: '1s' }, text: { contains: 'ok' } }
  const subjects = { l_type: { phase: 'total' }, name: { name: 'x-made-by' } }
  // True because the table has an entry for each kind.
  const kinds = Object.keys(ASSERTION_LAYOUTS) as AssertionKind[]
  const assertions = kinds.map((kind) => {
    const { operators, subjectField } = ASSERTION_LAYOUTS[kind]
    const subject = subjectField === undefined ? {} : subjects[subjectField]
    return { [KINDS[kind]]: { ...subject, ...operands[operators] } }
  })

  const { specs, notes } = read(
    'terraform',
    plan({
      ...{ name: 'Shop', regions: ['us-east-1'] },
      endpoints: [{ url: 'https://shop.example/', assertions }],
    }),
  )

  expect(notes).toEqual([])
  const forms = assertionFormSchema.array().parse(specs.shop.endpoints[0].assertions)
  expect(forms.map((form) => Object.keys(compileAssertion(form)))).toEqual(kinds.map((kind) => [kind]))
})

test('a file with nothing to import is reported, and a ConfigMap with how to import its content', () => {
  const configMap = 'apiVersion: v1\nkind: ConfigMap\ndata:\n  config.yaml: |\n    endpoints: []\n'

  expect(read('gatus', 'storage: {type: sqlite}').notes).toEqual([
    '1.yml:1:1: left out: no checks of gatus found: check the format and the file',
  ])
  expect(read('blackbox', 'modules:\n  web: {prober: http}').notes).toEqual([
    '1.yml:2:3: left out: modules have no targets: pass the configuration of Prometheus too',
  ])
  expect(read('gatus', configMap).notes).toEqual([
    '1.yml:5:5: left out: write config.yaml of the ConfigMap into a file of its own, and import that',
  ])
})

test('a file that is neither YAML nor JSON is refused at its place', () => {
  expect(() => read('gatus', 'endpoints: [')).toThrow(UnreadableSource)
  expect(() => read('gatus', 'a: [1\nb: 2')).toThrow('1.yml:1:4: this [ is not closed (close it with ]')
  expect(() => read('gatus', 'a:\n\t- b')).toThrow(/^1\.yml:2:1: tab characters .* \(indent with spaces\)$/)
})

test('settings of Gatus that it computes, and those of the whole file, are carried over or named', () => {
  const { specs, labels, notes } = read(
    'gatus',
    `maintenance: {start: "23:00", duration: 1h}
endpoints:
  - name: front
    url: HTTPS://shop.example/
    method: POST
    extra-labels: {Team: web, tier: 1}
    headers: {X-Version: 1.0, X-On: true, X-User: "a-$USER"}
    body: '{"price": "$$5"}'
    conditions: [" [STATUS] < 300 ", "[BODY] == $EXPECTED", "[BODY] == $$5"]
  - name: filled
    url: https://shop.example/
    method: POST
    body: '{"id": "$ID"}'
`,
  )

  expect(specs.front.endpoints[0]).toMatchObject({
    headers: { 'X-Version': '1.0', 'X-On': 'true', 'X-User': { env: 'FRONT_X_USER' } },
    body: '{"price": "$5"}',
    assertions: [{ status: { lt: 300 } }, { body: { regex: '^\\s*\\$5\\s*$' } }],
  })
  expect(labels.front).toEqual({ team: 'web', tier: '1' })
  expect(specs.filled.endpoints[0].body).toEqual({ env: 'FILLED_BODY' })
  expect(notes).toEqual([
    '1.yml:1:14: left out: maintenance: create windows (pharos-server maintenance create)',
    '1.yml:7:52: the value of X-User is not copied: set the environment variable FRONT_X_USER',
    '1.yml:9:39: left out: an assertion cannot contain a variable: [BODY] == $EXPECTED',
    '1.yml:13:12: the body is not copied, because it contains a variable: set the environment variable FILLED_BODY',
  ])
})

test.each([
  ['[STATUS] == pat(2*)', { status: '2xx' }],
  ['[status] == 200', { status: 200 }],
  ['[RESPONSE_TIME] < 1.5s', { latency: { total: '< 1.5s' } }],
  ['[BODY] == ok', { body: { regex: '^\\s*ok\\s*$' } }],
  ['[BODY] == any(up, ok.)', { body: { regex: '^\\s*(?:up|ok\\.)\\s*$' } }],
  ['[BODY] == pat(*a?b*)', { body: { regex: '^\\s*[\\s\\S]*a[\\s\\S]b[\\s\\S]*\\s*$' } }],
])('the condition %s of Gatus becomes the same assertion', (condition, assertion) => {
  const { specs, notes } = read(
    'gatus',
    `endpoints: [{name: a, url: "https://shop.example/", conditions: ["${condition}"]}]`,
  )

  expect(specs.a.endpoints[0].assertions).toContainEqual(assertion)
  expect(notes).toEqual([])
})

test.each([
  ['[STATUS] == 200 || [STATUS] == 404', undefined],
  ['[CONNECTED] == false', [{ status: { gte: 100 } }]],
  ['[BODY] == pat(*[0-9]*)', [{ status: { gte: 100 } }]],
])('the condition %s of Gatus has no equivalent and is reported', (condition, assertions) => {
  const { specs, notes } = read(
    'gatus',
    `endpoints: [{name: a, url: "https://shop.example/", conditions: ["${condition}"]}]`,
  )

  expect(specs.a.endpoints[0].assertions).toEqual(assertions)
  expect(notes).toEqual([`1.yml:1:67: left out: no equivalent of ${condition}`])
})

test('what endpoints of Gatus share by aliases and merge keys is carried over, and reported once where it is defined', () => {
  const { specs, labels, notes } = read(
    'gatus',
    `level: &level 1.0
base: &base
  client: &client {timeout: 5s, insecure: yes}
  headers: &headers {X-Probe: pharos}
  alerts: [{type: slack}]
usual: &usual
  !!merge <<: *base
  interval: 90s
  conditions: ["[STATUS] == 200", "[BODY].up == true"]
endpoints:
  - <<: *usual
    name: one
    url: https://one.example/
    extra-labels: {level: *level}
  - !!merge <<: [*usual]
    name: two
    url: https://two.example/
    enabled: no
    client: {<<: *client, timeout: soon}
    headers: {<<: *headers, X-Two: "2"}
  - name: three
    url: https://three.example/
    conditions: ["[STATUS] == 200", "[CERTIFICATE_EXPIRATION] > 48h"]
    alerts: [{type: slack}]
  - name: four
    url: https://four.example/
    conditions: ["[STATUS] == 200", "[CERTIFICATE_EXPIRATION] > 72h"]
`,
  )

  expect(specs.one).toMatchObject({
    interval: '1m30s',
    endpoints: [{ timeout: '5s', headers: { 'X-Probe': 'pharos' }, assertions: [{ status: 200 }] }],
  })
  expect(specs.two).toMatchObject({
    paused: true,
    endpoints: [{ headers: { 'X-Probe': 'pharos', 'X-Two': '2' }, assertions: [{ status: 200 }] }],
  })
  expect(labels.one).toEqual({ level: '1.0' })
  expect(notes).toEqual([
    '1.yml:3:43: left out: no equivalent of client.insecure',
    '1.yml:5:11: left out: no equivalent of alerts (here and in 1 other place)',
    '1.yml:9:36: left out: Pharos has no assertion on values inside JSON: [BODY].up == true',
    '1.yml:19:36: the timeout is not understood: that of the server is used',
    '1.yml:23:38: left out: Pharos watches the expiry of every certificate, and notifies the channels (here and in 1 other place)',
  ])
})

test('a key that is missing in mappings that are merged in very many ways is reported at once', () => {
  const levels = Array.from(
    { length: 20 },
    (_, level) => `b${level + 1}: &b${level + 1} {<<: [${Array(9).fill(`*b${level}`)}]}\n`,
  )

  const { notes } = read('gatus', `b0: &b0 {k: 1}\n${levels.join('')}endpoints: [{<<: *b20, name: a}]\n`)

  expect(notes).toEqual(['1.yml:22:13: a is left out: it has no URL'])
})

test('a GraphQL body of Gatus is sent as it sends it, with its placeholders', () => {
  const { specs, notes } = read(
    'gatus',
    `endpoints:
  - name: users
    group: core
    url: https://shop.example/graphql
    method: POST
    graphql: true
    body: '{ users(by: "[ENDPOINT_NAME] [ENDPOINT_GROUP] [RANDOM_STRING_5]") { id } }'
  - name: remote
    url: shop.example:443
    grpc: {service: a}
`,
  )

  expect(specs['core-users'].endpoints[0]).toMatchObject({
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ query: '{ users(by: "users core [RANDOM_STRING_5]") { id } }' }),
  })
  expect(notes).toEqual([
    '1.yml:7:12: left out: no equivalent of random texts in a body',
    '1.yml:10:11: remote is left out: Pharos checks HTTP only, not grpc',
  ])
})

test('a list of scrape configurations is read, and the shorter of two timeouts is the timeout', () => {
  const { specs, notes } = read(
    'blackbox',
    'modules: {slow: {prober: http, timeout: 20s}, fast: {prober: http, timeout: 2s}}\n',
    `- job_name: a
  metrics_path: /probe
  scrape_timeout: 5s
  params: {module: [slow]}
  static_configs: [{targets: ["https://slow.example"]}]
- job_name: b
  metrics_path: /probe
  scrape_timeout: 5s
  params: {module: [fast]}
  static_configs: [{targets: ["https://fast.example"]}]
`,
    `global: {scrape_timeout: 4s}
scrape_configs:
  - {job_name: c, metrics_path: /probe, static_configs: [{targets: ["https://usual.example"]}]}
`,
    `kind: Probe
metadata: {name: d}
spec: {scrapeTimeout: 3s, targets: {staticConfig: {static: ["https://probe.example"]}}}
`,
  )

  const timeouts = Object.entries(specs).map(([key, spec]) => [key, spec.endpoints[0].timeout])
  expect(Object.fromEntries(timeouts)).toEqual({
    ...{ 'slow.example': '5s', 'fast.example': '2s', 'usual.example': '4s', 'probe.example': '3s' },
  })
  expect(notes).toEqual([])
})

test('a ScrapeConfig of the Prometheus operator is reported beside its Probes', () => {
  const { specs, notes } = read(
    'blackbox',
    `kind: Probe
metadata: {name: a}
spec: {targets: {staticConfig: {static: ["https://shop.example"]}}}
---
kind: ScrapeConfig
spec: {metricsPath: /probe, staticConfigs: [{targets: ["https://other.example"]}]}
`,
  )

  expect(Object.keys(specs)).toEqual(['shop.example'])
  expect(notes).toEqual([
    '1.yml:5:1: left out: a ScrapeConfig: write it into the scrape_configs of a configuration of Prometheus',
  ])
})

test('settings of a module that change nothing are not reported, and any status can be accepted', () => {
  const { specs, notes } = read(
    'blackbox',
    `modules:
  any:
    prober: http
    http:
      accept_any_response: true
      fail_if_ssl: false
      tls_config: {insecure_skip_verify: false}
      proxy_url: ""
      fail_if_body_matches_regexp: []
`,
    `scrape_configs:
  - job_name: a
    metrics_path: /probe
    params: {module: [any]}
    static_configs: [{targets: ["https://shop.example"]}]
`,
  )

  expect(specs['shop.example'].endpoints[0].assertions).toEqual([{ status: { gte: 100 } }])
  expect(notes).toEqual([])
})

test.each(['?key=canary', '?a=b&sig=canary', '?pwd=canary', '#access_token=canary'])(
  'a monitor with the secret %s in its URL is left out',
  (query) => {
    const file = `endpoints: [{name: a, url: "https://shop.example/${query}"}]`

    expect(read('gatus', file)).toMatchObject({ specs: {}, notes: [expect.stringContaining('left out')] })
  },
)

test('a target has the module of its label or of a rule, and a module is reported once for all of its targets', () => {
  const modules = `modules:
  plain: {prober: http, http: {tls_config: {ca_file: a}, bearer_token: canary}}
  posted:
    prober: http
    http: {method: POST, fail_if_header_not_matches: [{header: Server, regexp: a, allow_missing: true}]}
`
  const job = `{target_label: __param_target, source_labels: [__address__]}`
  const { specs, labels, notes } = read(
    'blackbox',
    modules,
    `scrape_configs:
  - job_name: a
    metrics_path: /probe
    params: {module: [plain]}
    static_configs:
      - {targets: ["https://one.example", "https://two.example"]}
      - {targets: ["https://three.example"], labels: {__param_module: posted}}
      - {targets: ["https://four.example"], labels: {kind: posted, env: prod}}
    relabel_configs: [${job}, {target_label: __param_module, source_labels: [kind]}]
  - job_name: b
    metrics_path: /probe
    params: {module: [plain], target: ["https://five.example"]}
    static_configs: [{targets: ["exporter:9115"]}]
  - job_name: c
    metrics_path: /probe
    params: {module: [plain]}
    static_configs: [{targets: ["six.example"]}]
    relabel_configs: [{target_label: __param_target, source_labels: [__address__], replacement: "https://$1"}]
`,
  )

  const methods = Object.entries(specs).map(([key, spec]) => [key, spec.endpoints[0].method])
  expect(Object.fromEntries(methods)).toEqual({
    ...{ 'one.example': undefined, 'two.example': undefined, 'three.example': 'POST' },
    ...{ 'four.example': 'POST', 'five.example': undefined, 'six.example': undefined },
  })
  expect(labels['three.example']).toEqual({ job: 'a' })
  expect(notes).toEqual([
    '1.yml:2:44: left out: no equivalent of tls_config',
    '1.yml:2:72: the secret is not copied: set PLAIN_AUTHORIZATION',
    '1.yml:5:98: left out: an assertion on a missing header fails',
    '2.yml:18:23: left out: the rule changes targets: correct the URLs of the manifests',
  ])
})

test('rules that copy targets are not reported, those that select them or set labels are, and a target of two jobs has the names of both', () => {
  // Prometheus accepts a list whose next lines are not indented.
  const { specs, notes } = read(
    'blackbox',
    `scrape_configs:
  - job_name: a
    metrics_path: /probe
    static_configs:
      - targets: [
          "https://one.example", "https://four.example",
      "https://two.example/?token=canary"
      ]
        labels: {team: web}
    relabel_configs:
      - source_labels: [__address__]
        action: replace
        regex: (.*)
        replacement: $1
        target_label: __param_target
      - {source_labels: [__param_target], target_label: instance}
      - {target_label: __address__, replacement: "blackbox:9115"}
      - {source_labels: [team], regex: web, action: keep}
      - {target_label: zone, replacement: eu}
      - {target_label: region, replacement: eu}
`,
    `kind: Probe
metadata: {name: b}
spec:
  targets:
    staticConfig:
      static: [three.example, "https://four.example"]
      relabelingConfigs: [{targetLabel: zone, replacement: eu}]
`,
    'modules: {http_2xx: {prober: http}}',
  )

  expect(Object.keys(specs)).toEqual(['a-four.example', 'b-four.example', 'one.example', 'three.example'])
  expect(notes).toEqual([
    '1.yml:7:8: https://two.example/ is left out: its URL has a secret in its query or fragment (token): send it as a header',
    '1.yml:18:9: left out: the rule selects targets: remove the manifests of the others',
    '1.yml:19:9: left out: labels that rules set (here and in 1 other place)',
    '2.yml:7:26: left out: relabelingConfigs: check the targets and labels of the manifests',
  ])
})

test('more status codes than an assertion takes are reduced to those that a standard names', () => {
  const monitor = {
    ...{ id: 1, name: 'A', type: 'http', url: 'https://shop.example/' },
    accepted_statuscodes: ['200-299', '401'],
  }

  const { specs, notes } = read('uptime-kuma', monitorRows([monitor]))

  const { oneOf } = specs.a.endpoints[0].assertions[0].status
  expect(oneOf).toEqual(expect.arrayContaining([200, 204, 226, 401]))
  expect(oneOf.length).toBeLessThan(30)
  expect(notes).toEqual([
    '1.yml:1:104: left out: status codes without a standard meaning: an assertion has at most 100 codes',
  ])
})

test('headers and status codes of Uptime Kuma that are not JSON are reported', () => {
  const monitor = {
    ...{ id: 1, name: 'A', type: 'http', url: 'https://shop.example/', headers: 'X-A 1' },
    ...{ description: 'the shop', resendInterval: 3, tags: [{ name: '[Shop]', value: '' }] },
    accepted_statuscodes_json: '["200',
    body: '{"a": 1}',
  }

  const { specs, labels, notes } = read(
    'uptime-kuma',
    monitorRows([monitor, { type: 'http', url: monitor.url, headers: '{}' }]),
  )

  expect(labels.a).toEqual({ shop: '' })
  expect(specs.a.endpoints[0]).toMatchObject({ body: '{"a": 1}' })
  expect(specs.a.endpoints[0].method).toBe(undefined)
  expect(notes.map((note) => note.replace(/^.*?: /, ''))).toEqual([
    'left out: the headers of A are not JSON',
    'left out: no equivalent of descriptions',
    'left out: resendInterval: Pharos does not repeat notifications',
    'left out: the accepted status codes are not understood',
  ])
})

test('values that Checkly locks are secrets, and assertions with variables are reported', () => {
  const request = {
    ...{ method: 'GET', url: 'https://shop.example/' },
    headers: [{ key: 'X-Shop', value: 'canary', locked: true }],
    assertions: [
      { source: 'HEADERS', property: 'x-a', comparison: 'EQUALS', target: '{{A}}' },
      { source: 'HEADERS', property: 'x-a', regex: 'v(.*)', comparison: 'EQUALS', target: '1' },
      { source: 'STATUS_CODE', comparison: 'EQUALS', target: '200' },
    ],
  }
  const queryParameters = [{ key: 'q', value: 'canary', locked: true }]
  const checks = [
    {
      name: 'A',
      checkType: 'API',
      muted: true,
      environmentVariables: [{ key: 'A', value: 'canary' }],
      request,
    },
    { name: 'B', checkType: 'API', request: { ...request, queryParameters } },
  ]

  const { specs, notes } = read('checkly', JSON.stringify(checks, undefined, 1))

  expect(specs).toMatchObject({
    a: { endpoints: [{ headers: { 'X-Shop': { env: 'A_X_SHOP' } }, assertions: [{ status: 200 }] }] },
  })
  expect(JSON.stringify([specs, notes])).not.toContain('canary')
  expect(notes.map((note) => note.replace(/^.*?: /, ''))).toEqual([
    'left out: muted: select the services of each channel (pharos-server channel update --service)',
    'left out: variables of a check: set environment variables instead',
    'the value of X-Shop is not copied: set the environment variable A_X_SHOP',
    'left out: an assertion cannot contain a variable: {{A}}',
    'left out: no equivalent of HEADERS x-a regex EQUALS 1',
    'B is left out: its URL has a locked parameter, which is a secret: send it as a header',
  ])
})

test('references, servers of operations and general credentials of an OpenAPI document are followed', () => {
  const name = 'a'.repeat(300)
  const { specs, notes } = read(
    'openapi',
    `openapi: 3.1.0
info: {title: Shop}
servers: [{url: "https://{host-name}/v1", variables: {host-name: {default: shop.example}}}]
security: [{key: []}]
paths:
  /list: {get: {parameters: [{$ref: "#/components/parameters/a~1b"}]}}
  /needs: {get: {parameters: [{$ref: "#/components/parameters/c"}]}}
  /item: {$ref: "#/components/pathItems/item"}
  /circle: {$ref: "#/paths/~1circle"}
  /elsewhere: {$ref: "paths.yaml#/x"}
  /path: {servers: [{url: "https://files.example"}], get: {security: []}}
  /operation: {get: {servers: [{url: "https://operation.example"}], security: [{}, {key: []}]}}
  "/a b": {get: {}}
  /long: {get: {operationId: ${name}}}
components:
  parameters: {a/b: {name: a, in: query}, c: {name: c, in: query, required: true}}
  pathItems: {item: {get: {}}}
`,
  )

  expect(specs.shop.endpoints.map(({ url }: { url: string }) => url)).toEqual([
    'https://shop.example/v1/list',
    'https://shop.example/v1/item',
    'https://files.example/path',
    'https://operation.example/operation',
    'https://shop.example/v1/long',
  ])
  expect(notes).toEqual([
    '1.yml:4:11: operations without "security" of their own need a credential: add the header to the manifest as { env: NAME }',
    '1.yml:7:17: GET /needs is left out: it needs parameters',
    '1.yml:9:12: /circle is left out: it refers to something that this file does not have',
    '1.yml:10:15: /elsewhere is left out: it refers to something that this file does not have',
    '1.yml:13:17: GET /a b is left out: its URL must not contain blanks, control characters or backslashes',
  ])
})

test('a deeply nested OpenAPI document is read, and an empty file is reported', () => {
  const schema = `${'{"properties": '.repeat(80)}{}${'}'.repeat(80)}`
  const get = `{"responses": {"200": ${schema}}}`
  const document = `{"openapi": "3.0.0", "info": {"title": "A"}, "servers": [{"url": "https://a.example"}], "paths": {"/": {"get": ${get}}}}`

  expect(read('openapi', document, '')).toMatchObject({
    specs: { a: {} },
    notes: ['2.yml:1:1: left out: the file is empty'],
  })
})

test('a function key of Azure in a URL is a secret, and a short code is none', () => {
  const monitor = (code: string) => `endpoints:\n  - { name: a, url: "https://example.com/?code=${code}" }\n`

  const keyed = read('gatus', monitor('c'.repeat(56)))
  const coded = read('gatus', monitor('FR'))

  expect(keyed.specs).toEqual({})
  expect(keyed.notes.join()).toContain('has a secret in its query or fragment (code)')
  expect(coded.specs.a.endpoints[0].url).toBe('https://example.com/?code=FR')
})
