// SPDX-License-Identifier: Apache-2.0

/// The cookies of a request (RFC 6265, 5.4). Of two with one name the first counts, which
/// is the one with the longer path.
struct PageCookies: Sendable {
    /// A browser's session.
    static let session = "shopkeeper_session"
    /// The token of a form that is sent before a session exists.
    static let form = "shopkeeper_form"
    /// The country that a visitor has chosen, alpha-3.
    static let storefront = "shopkeeper_storefront"

    private var values: [String: String]

    init(_ header: String) {
        let pairs = header.split(separator: ";").compactMap { part -> (String, String)? in
            let pair = part.drop { $0 == " " }.split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return pair.count == 2 ? (String(pair[0]), String(pair[1])) : nil
        }
        values = Dictionary(pairs) { first, _ in first }
    }

    subscript(name: String) -> String? { values[name] }

    func setting(_ name: String, _ value: String) -> PageCookies {
        var cookies = self
        cookies.values[name] = value
        return cookies
    }

    /// The line that sets a cookie. It is kept from scripts and from requests that other
    /// sites cause. `isSecure`: whether browsers send it over HTTPS only.
    static func line(
        _ name: String, _ value: String, path: String, seconds: Int?, isSecure: Bool
    ) -> String {
        "\(name)=\(value); Path=\(path.isEmpty ? "/" : path); HttpOnly; SameSite=Lax"
            + (seconds.map { "; Max-Age=\($0)" } ?? "") + (isSecure ? "; Secure" : "")
    }
}
