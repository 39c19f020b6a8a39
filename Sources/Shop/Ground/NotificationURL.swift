// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The rule for URLs of notifications, by their text. In production the host
/// must be a public name. The courier checks the addresses of the name at every
/// attempt.
enum NotificationURL {
    static let bytesMax = 1024

    /// Ends of names that are never public: names of this machine or of a local
    /// network.
    private static let privateEnds = ["localhost", "local", "internal", "lan", "arpa"]

    /// Throws the refusals `notificationUrlInvalid`, and in production
    /// `notificationUrlPrivate`.
    static func check(_ text: String, isProduction: Bool) throws {
        guard (1...bytesMax).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let url = URLComponents(string: text), let host = url.host, !host.isEmpty,
            url.user == nil, url.password == nil, url.fragment == nil
        else { throw invalid(isProduction) }
        let scheme = url.scheme?.lowercased()
        guard scheme == "https" || (scheme == "http" && !isProduction) else {
            throw invalid(isProduction)
        }
        guard !isProduction || isPublicName(host) else { throw isPrivate }
        guard let port = url.port else { return }
        guard (1...65_535).contains(port), !isProduction || port == 443 || port >= 1024 else {
            throw invalid(isProduction)
        }
    }

    /// Whether a host is a name with a dot that is not reserved for local
    /// networks, and not an address. An address in any notation (`10.0.0.7`,
    /// `0x7f.1`, `[::1]`) ends with a number or has brackets.
    private static func isPublicName(_ host: String) -> Bool {
        let low = host.lowercased()
        let name = low.last == "." ? low.dropLast() : low[...]
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count > 1, labels.allSatisfy({ !$0.isEmpty }), let last = labels.last,
            let first = last.utf8.first
        else { return false }
        return !(48...57).contains(first) && !name.contains(":")
            && !privateEnds.contains(String(last))
    }

    private static var isPrivate: Refusal {
        Refusal(
            .badRequest, code: "notificationUrlPrivate",
            "A production realm's notifications do not go into a private network.",
            field: "notificationUrl",
            rule: "the name of a public host: no address, no `localhost`, no name of a local "
                + "network",
            remedy: "give the public name of the server, such as "
                + "`https://example.com/notifications`")
    }

    private static func invalid(_ isProduction: Bool) -> Refusal {
        Refusal(
            .badRequest, code: "notificationUrlInvalid",
            "Notifications cannot go to this address.", field: "notificationUrl",
            rule: isProduction
                ? "https, port 443 or one from 1024, without user, password or fragment, at "
                    + "most \(bytesMax) bytes of ASCII"
                : "http or https, without user, password or fragment, at most \(bytesMax) bytes "
                    + "of ASCII",
            remedy: "give one such as `https://example.com/notifications`")
    }
}
