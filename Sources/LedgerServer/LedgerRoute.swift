// SPDX-License-Identifier: Apache-2.0

import HTTPShell

/// What a request asks of a ledger, from its method and path alone.
enum LedgerRoute: Hashable, Sendable {
    case health, ready, metrics
    case purchases, notifications
    case unspent(account: String), redemptions(account: String)

    private static let prefix = "/ledger/v1"

    /// Throws `unknownPath` and `wrongMethod`.
    init(method: String, path: String) throws {
        let (route, wanted) = try Self.find(path)
        guard method == wanted else { throw RequestMistake.wrongMethod(allowed: [wanted]) }
        self = route
    }

    private static func find(_ path: String) throws -> (LedgerRoute, method: String) {
        switch path {
        case "/health": return (.health, "GET")
        case "/ready": return (.ready, "GET")
        case "/metrics": return (.metrics, "GET")
        case "\(prefix)/purchases": return (.purchases, "POST")
        case "\(prefix)/notifications": return (.notifications, "POST")
        default: break
        }
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard path.hasPrefix("\(prefix)/accounts/"), parts.count == 6,
            let account = String(parts[4]).removingPercent, !account.isEmpty
        else { throw RequestMistake.unknownPath }
        switch parts[5] {
        case "unspent": return (.unspent(account: account), "GET")
        case "redemptions": return (.redemptions(account: account), "POST")
        default: throw RequestMistake.unknownPath
        }
    }

    /// The address without its variable parts, for logs.
    var pattern: String {
        switch self {
        case .health: "/health"
        case .ready: "/ready"
        case .metrics: "/metrics"
        case .purchases: "\(Self.prefix)/purchases"
        case .notifications: "\(Self.prefix)/notifications"
        case .unspent: "\(Self.prefix)/accounts/{}/unspent"
        case .redemptions: "\(Self.prefix)/accounts/{}/redemptions"
        }
    }
}

extension String {
    /// The text without percent-encoding. Nil if the encoding is broken or the
    /// bytes are not UTF-8.
    fileprivate var removingPercent: String? {
        var bytes: [UInt8] = []
        var rest = Array(utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
