// SPDX-License-Identifier: Apache-2.0

import CPostgres

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

extension PostgresConnection {
    /// Runs a statement outside pipelines and waits for its answer for a
    /// limited time. A server that does not answer in time counts as lost.
    func ask(_ sql: String, within milliseconds: Int) throws {
        let end = Deadline.after(milliseconds: milliseconds)
        guard PQsendQuery(handle, sql) == 1 else { throw lost }
        while PQisBusy(handle) == 1 {
            let left = end.millisecondsLeft
            var source = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
            guard left > 0, poll(&source, 1, Int32(clamping: left)) != 0 else {
                throw ConnectionLost(message: "the server did not answer within \(milliseconds) ms")
            }
            guard PQconsumeInput(handle) == 1 else { throw lost }
        }
        var failure: (any Error)?
        while let result = PQgetResult(handle) {
            defer { PQclear(result) }
            switch PQresultStatus(result) {
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK: break
            default: failure = isLost ? lost : ServerError(result)
            }
        }
        if let failure { throw failure }
    }
}
