// SPDX-License-Identifier: Apache-2.0

import Ledger
import Live
import Outbound

/// The calls of a ledger over HTTP. Certificates are always checked.
enum LiveStoreDoor {
    /// `isProduction`: whether production's purchases are booked. Then every call is
    /// made over HTTPS.
    static func door(isProduction: Bool) -> StoreDoor {
        let client = OutboundClient(policy: isProduction ? .secure : .open)
        return StoreDoor(sleep: { try await Live.sleep($0) }) {
            call throws(StoreUnreached) in
            var request = OutboundRequest(
                call.method, call.url,
                headers: call.headers.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) },
                body: call.body)
            request.timeoutMilliseconds = call.timeoutMilliseconds
            request.connectTimeoutMilliseconds = min(
                request.connectTimeoutMilliseconds, call.timeoutMilliseconds)
            request.bodyBytesMax = call.answerBytesMax
            do throws(OutboundFault) {
                let answer = try await client.send(request)
                return StoreAnswer(
                    status: answer.status, retryAfter: answer.headers["retry-after"],
                    body: answer.body)
            } catch {
                // Whatever the merchant's server says beside its status is not read.
                if call.receiver == .merchant, error.code == .answerTooLarge,
                    let status = error.status
                {
                    return StoreAnswer(status: status)
                }
                throw StoreUnreached(error.reason)
            }
        }
    }
}
