// SPDX-License-Identifier: Apache-2.0

import Outbound
import Shop
import StoreWire

/// Delivers notifications over HTTP: a sandbox's to any address, a production
/// realm's over HTTPS to public addresses only.
struct LiveCourier: Courier {
    private static let timeoutMilliseconds = 15_000

    private let sandbox = OutboundClient(policy: .open)
    private let production = OutboundClient(policy: .guarded)

    func deliver(_ parcel: Parcel) async -> Delivery {
        var request = OutboundRequest(
            "POST", parcel.url,
            headers: [
                .init("Content-Type", "application/json"), .init("X-Request-Id", parcel.id),
            ], body: parcel.body)
        request.timeoutMilliseconds = Self.timeoutMilliseconds
        let client = parcel.isProduction ? production : sandbox
        do throws(OutboundFault) {
            return Delivery(status: try await client.send(request).status)
        } catch {
            return Self.delivery(error)
        }
    }

    /// Converts a fault to Apple's names. A complete head counts as an answer,
    /// however long the body, because the body is not used.
    static func delivery(_ fault: OutboundFault) -> Delivery {
        if fault.code == .answerTooLarge, let status = fault.status {
            return Delivery(status: status)
        }
        let result: SendAttemptResult =
            switch fault.code {
            case .timedOut: .timedOut
            case .tls: .tlsIssue
            case .noAnswer, .hostNotFound, .notConnected, .addressRefused: .noResponse
            case .socket: .socketIssue
            case .invalidAnswer, .answerTooLarge: .invalidResponse
            case .cutShort: .prematureClose
            default: .other
            }
        return Delivery(result, status: fault.status)
    }
}
