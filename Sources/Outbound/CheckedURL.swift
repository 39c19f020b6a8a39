// SPDX-License-Identifier: Apache-2.0

@_implementationOnly import CCurl

/// A URL that a policy allows. It is parsed by the library that will connect to
/// it, because two parsers may see different hosts in one text.
struct CheckedURL: Hashable, Sendable {
    /// Longer URLs are rejected.
    static let bytesMax = 2048

    let text: String
    let isEncrypted: Bool

    init(_ text: String, _ policy: AddressPolicy) throws(OutboundFault) {
        guard text.utf8.count <= Self.bytesMax,
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw Self.refused("it is longer than \(Self.bytesMax) bytes or not plain ASCII") }
        guard let url = curl_url() else { throw OutboundFault(.other, "no memory") }
        defer { curl_url_cleanup(url) }
        guard curl_url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK else {
            throw Self.refused("it cannot be read")
        }
        let scheme = Self.part(CURLUPART_SCHEME, of: url)
        guard scheme == "https" || (scheme == "http" && policy.allowsPlainHTTP) else {
            throw Self.refused(
                policy.allowsPlainHTTP ? "neither http nor https" : "it is not https")
        }
        guard Self.part(CURLUPART_USER, of: url) == nil,
            Self.part(CURLUPART_PASSWORD, of: url) == nil
        else { throw Self.refused("it names a user or a password") }
        let port = Self.part(CURLUPART_PORT, of: url).flatMap { Int($0) }
        guard policy.allows(port: port ?? (scheme == "https" ? 443 : 80)) else {
            throw Self.refused("its port is neither 443 nor one from 1024")
        }
        curl_url_set(url, CURLUPART_FRAGMENT, nil, 0)
        guard let whole = Self.part(CURLUPART_URL, of: url) else {
            throw Self.refused("it cannot be read")
        }
        self.text = whole
        isEncrypted = scheme == "https"
    }

    private static func part(_ part: CURLUPart, of url: OpaquePointer) -> String? {
        var found: UnsafeMutablePointer<CChar>?
        guard curl_url_get(url, part, &found, 0) == CURLUE_OK, let found else { return nil }
        defer { curl_free(found) }
        return String(cString: found)
    }

    private static func refused(_ rule: String) -> OutboundFault {
        OutboundFault(.urlRefused, "the URL is refused: \(rule)")
    }
}
