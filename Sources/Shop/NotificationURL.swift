// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The rule for where notifications may go, by the URL's spelling. What its
/// name stands for is the courier's to judge, at every attempt.
enum NotificationURL {
    static let bytesMax = 1024

    /// Refusal: `notificationUrlInvalid`.
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
        guard let port = url.port else { return }
        guard (1...65_535).contains(port), !isProduction || port == 443 || port >= 1024 else {
            throw invalid(isProduction)
        }
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
