import { ApiError } from '../../../api/contract/apiError.ts'
import { fileReason } from '../../../api/runtime/fileReason.ts'
import { DiskFullError } from '../../store/shared/diskFullError.ts'
import { connectionText, isOfConnection } from './databaseConnection.ts'

/** Why a command failed. */
export interface Failure {
  /** For programs: stable, starts with `E_`. */
  readonly code: string
  /** For people: the failure and its remedy. */
  readonly message: string
}

/** Fields that Node and SQLite add to an error. */
interface SystemFailure extends Error {
  readonly code: string
  readonly syscall?: string
  readonly path?: string
  readonly address?: string
  readonly port?: number
  readonly hostname?: string
  /** The flag with the address; --host when absent. */
  readonly hostFlag?: string
}

const POOLER_REMEDY = 'see the pooler in the findings of "pharos-server doctor"'

/** The failure for the user. An unexpected error is marked as such, with its source location. Pure. */
export function failureOf(error: unknown): Failure {
  if (error instanceof DiskFullError) return { code: 'E_DISK_FULL', message: error.message }
  if (error instanceof ApiError) return { code: `E_${error.code.toUpperCase()}`, message: error.message }
  if (isOfConnection(error)) return { code: 'E_DATABASE', message: connectionText(error) }
  if (isSystemFailure(error)) return systemFailure(error)
  if (error instanceof Error && error.name === 'Error') return { code: 'E_FAILED', message: error.message }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { code: 'E_INTERNAL', message: `this is a bug in pharos-server: ${text}` }
}

function isSystemFailure(error: unknown): error is SystemFailure {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
}

function systemFailure(error: SystemFailure): Failure {
  const { code, syscall } = error
  if (code === 'SQLITE_FULL' || code === 'ENOSPC') {
    const where = error.path ?? 'the data folder'
    return { code: 'E_DISK_FULL', message: `the disk of ${where} is full: free some space` }
  }
  if (code === 'EMFILE' || code === 'ENFILE') return { code: 'E_FILE', message: fileReason(error) }
  if (code.startsWith('SQLITE_')) return { code: 'E_DATABASE', message: databaseText(error) }
  if ('severity' in error) {
    // A prepared statement that exists already, or does not: another client's.
    const remedy = code === '42P05' || code === '26000' ? `: ${POOLER_REMEDY}` : ''
    return { code: 'E_DATABASE', message: `the database refuses: ${error.message}${remedy}` }
  }
  if (syscall === 'listen' || syscall === 'getaddrinfo') {
    return { code: 'E_ADDRESS', message: addressText(error) }
  }
  return { code: 'E_FILE', message: fileText(error) }
}

function databaseText({ code, message }: SystemFailure): string {
  if (code === 'SQLITE_NOTADB' || code.startsWith('SQLITE_CORRUPT')) {
    return 'the database is damaged or is not one: restore a backup'
  }
  if (/^SQLITE_(READONLY|CANTOPEN)/.test(code)) {
    return (
      'the data folder cannot be written: check its owner, whether its disk is read-only or has no inodes left ' +
      '("df -i"), and the limit on file descriptors ("ulimit -n")'
    )
  }
  if (code.startsWith('SQLITE_BUSY')) return 'the database is locked by another program: try again'
  if (code.startsWith('SQLITE_IOERR')) return `the disk of the data folder fails (${message}): check it`
  return message
}

function addressText({ code, message, address, hostname, port, hostFlag = '--host' }: SystemFailure): string {
  if (code === 'EADDRINUSE') {
    return `port ${port} is taken by another program: use another port, or 0 for any free one`
  }
  if (code === 'EADDRNOTAVAIL') return `this machine has no address ${address}: use another ${hostFlag}`
  if (code === 'EACCES') return `port ${port} is for privileged programs: name a --port from 1024 on`
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return `the host ${hostname} has no address: use another ${hostFlag}`
  }
  return `${message}: check ${hostFlag} and the port`
}

function fileText({ code, message, path }: SystemFailure): string {
  if (path === undefined) return message
  if (code === 'EACCES' || code === 'EPERM') return `${path} cannot be used: check its owner and mode`
  if (code === 'EROFS') return `${path} is on a read-only disk: use another folder`
  if (code === 'EEXIST' || code === 'ENOTDIR') {
    return `${path} cannot be a folder, there is a file in its place: use another path`
  }
  if (code === 'EISDIR') return `${path} is a folder: name a file`
  if (code === 'ENOENT') return `there is no ${path}: check the name`
  return message
}
