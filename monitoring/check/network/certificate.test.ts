import { TLSSocket } from 'node:tls'
import { beforeAll, expect, test, vi } from 'vitest'
import { testAuthority, type TestAuthority } from '../testing/certificates.ts'
import { checkOf, startHttpServer } from '../testing/checkedServer.ts'

let authority: TestAuthority
beforeAll(() => {
  authority = testAuthority()
})

test.each([
  ['valid', 'up', 'none', null],
  ['expired', 'down', 'certificate_expired', 'certificate expired on 2021-01-01'],
  ['undated', 'down', 'certificate_expired', 'certificate expired on 2021-01-01'],
  ['early', 'down', 'certificate_not_yet_valid', 'certificate is valid from 2090-01-01'],
  ['otherName', 'down', 'certificate_name', 'the certificate is not for localhost'],
  ['selfSigned', 'down', 'certificate_untrusted', 'certificate is self-signed'],
  ['incomplete', 'down', 'certificate_untrusted', 'certificate comes without the intermediate certificates'],
  [
    ...(['weak', 'down', 'certificate_untrusted'] as const),
    'certificate is not trusted, usually because a signature or a key of its chain is too weak, such as SHA-1',
  ],
] as const)('a certificate that is %s makes its endpoint %s: %s', async (kind, outcome, reason, text) => {
  const server = await startHttpServer((_request, response) => response.end(), {
    certificate: authority[kind],
  })

  const result = await checkOf(
    { url: `https://localhost:${server.port}/` },
    { authorities: authority.authorities },
  )
  await server.close()

  expect(result).toMatchObject({ outcome, reason, text })
  // The expiry of a certificate is shown whatever its fault.
  expect(result.certificates).toMatchObject([{ host: 'localhost', port: server.port }])
})

test('a certificate without a subject and an issuer is shown with empty names', async () => {
  const server = await startHttpServer((_request, response) => response.end(), {
    certificate: authority.nameless,
  })

  const { certificates } = await checkOf({ url: `https://localhost:${server.port}/` })
  await server.close()

  expect(certificates).toMatchObject([{ subject: '', issuer: '' }])
})

test('a certificate is verified for the IP address of the URL, or for the name in a Host header', async () => {
  const server = await startHttpServer((_request, response) => response.end(), {
    certificate: authority.valid,
  })
  const url = `https://127.0.0.1:${server.port}/`
  const settings = { authorities: authority.authorities }
  const host = (value: string): object => ({ http: { headers: { Host: { value } } } })

  const byAddress = await checkOf({ url }, settings)
  const byName = await checkOf({ url, ...host('shop.example') }, settings)
  const byOther = await checkOf({ url, ...host('pay.example') }, settings)
  await server.close()

  expect([byAddress.reason, byName.reason, byOther.reason]).toEqual(['none', 'none', 'certificate_name'])
})

test('Node reads no certificate into an object, which would take a quarter of a check over TLS', async () => {
  const server = await startHttpServer((_request, response) => response.end(), {
    certificate: authority.valid,
  })
  const asked = vi.spyOn(TLSSocket.prototype, 'getPeerCertificate')

  const result = await checkOf(
    { url: `https://localhost:${server.port}/` },
    { authorities: authority.authorities },
  )
  const calls = asked.mock.calls.length
  asked.mockRestore()
  await server.close()

  expect({ outcome: result.outcome, calls }).toEqual({ outcome: 'up', calls: 0 })
})

test.each(['TLSv1.2', 'TLSv1.3'] as const)('a response over %s has that version', async (version) => {
  const server = await startHttpServer((_request, response) => response.end(), {
    certificate: { ...authority.valid, maxVersion: version },
  })

  const { facts } = await checkOf(
    { url: `https://localhost:${server.port}/` },
    { authorities: authority.authorities },
  )
  await server.close()

  expect(facts).toMatchObject({ tlsVersion: version.replace('v', ' '), httpVersion: '1.1' })
})
