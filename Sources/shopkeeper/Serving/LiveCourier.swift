// SPDX-License-Identifier: Apache-2.0

import Foundation
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
            return Self.delivery(try await client.send(request), from: parcel.url)
        } catch {
            return Self.delivery(error)
        }
    }

    /// Redirects are not followed, but one to the same URL is reported as circular. An
    /// answer in an unknown character set cannot be read, so it does not count as delivered.
    private static func delivery(_ answer: OutboundResponse, from url: String) -> Delivery {
        let status = answer.status
        if (300..<400).contains(status), let place = answer.headers["location"],
            isSame(place, url)
        {
            return Delivery(.circularRedirect, status: status)
        }
        if (200...206).contains(status), !answer.body.isEmpty,
            let type = answer.headers["content-type"], let name = TextCharset.name(in: type),
            !TextCharset.isKnown(name)
        {
            return Delivery(.unsupportedCharset, status: status)
        }
        return Delivery(status: status)
    }

    /// Whether a `Location` means the URL that answered.
    private static func isSame(_ place: String, _ url: String) -> Bool {
        guard let base = URL(string: url), let target = URL(string: place, relativeTo: base)
        else { return false }
        func parts(_ url: URL) -> [String?] {
            let path = url.path(percentEncoded: true)
            return [
                url.scheme?.lowercased(), url.host(percentEncoded: true)?.lowercased(),
                url.port.map(String.init), path.isEmpty ? "/" : path,
                url.query(percentEncoded: true),
            ]
        }
        return parts(target.absoluteURL) == parts(base)
    }

    /// Converts a fault to Apple's names. A complete head counts as an answer,
    /// however long the body, because the body is not used. A head without end is none.
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

/// The character sets of answers.
enum TextCharset {
    /// The name in a `Content-Type`. Nil without one.
    static func name(in type: String) -> String? {
        for parameter in type.split(separator: ";").dropFirst() {
            let sides = parameter.split(separator: "=", maxSplits: 1).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            guard sides.count == 2, sides[0].lowercased() == "charset" else { continue }
            return sides[1].trimmingCharacters(in: CharacterSet(charactersIn: "\"'")).lowercased()
        }
        return nil
    }

    static func isKnown(_ name: String) -> Bool { known.contains(name) }

    /// Those that servers use, by their names in the register of IANA and common ones.
    private static let known: Set<String> = Set(
        [
            "utf-8", "utf8", "utf-16", "utf-16be", "utf-16le", "utf-32", "us-ascii", "ascii",
            "latin1", "iso8859-1", "cp1252", "macintosh", "shift_jis", "euc-jp", "iso-2022-jp",
            "euc-kr", "gb2312", "gbk", "gb18030", "big5", "koi8-r", "koi8-u", "tis-620",
        ] + (1...16).map { "iso-8859-\($0)" } + (1250...1258).map { "windows-\($0)" })
}
