// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import Foundation
import HTTPShell
import Hummingbird
import Mustache
import Shop
import StoreWire
import WireErrors

/// A browser's request for a page.
struct PageVisit: Sendable {
    let call: Call
    let parts: PathParts
    let realm: Realm
    /// What the realm's addresses begin with: empty, or `/realms/NAME`.
    let base: String
    let cookies: PageCookies
    let visitor: Visitor?

    /// The most bytes of a form.
    private static let formBytesMax = 16 * 1024
    /// Nothing from other sites, no scripts, and in no other site's frame.
    private static let policy =
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; "
        + "base-uri 'none'; frame-ancestors 'none'"

    /// The visitor's storefront: the customer's own, or the one that was chosen. Nil for
    /// that of each app.
    var storefront: Storefront? {
        visitor?.storefront ?? cookies[PageCookies.storefront].flatMap(Storefront.named)
    }

    /// The language that the browser prefers, such as `de_DE`. Nil if it names none.
    var locale: String? {
        let first = call.header("Accept-Language")?.prefix { $0 != "," && $0 != ";" }
        guard let first, (2...16).contains(first.utf8.count),
            first.utf8.allSatisfy({ $0.isWordByte || $0 == UInt8(ascii: "-") })
        else { return nil }
        return String(first).replacing("-", with: "_")
    }

    /// The token that each form of a page carries. It depends on the session, or before
    /// there is one, on a cookie of its own.
    var formToken: String {
        let source = cookies[PageCookies.session] ?? cookies[PageCookies.form] ?? ""
        let digest = SHA256.hash(data: Data("form:\(source)".utf8))
        return source.isEmpty ? "" : hexadecimal(Array(digest))
    }

    /// The same request with another cookie, as the browser will send the next one.
    func knowing(_ name: String, _ value: String) -> PageVisit {
        PageVisit(
            call: call, parts: parts, realm: realm, base: base,
            cookies: cookies.setting(name, value), visitor: visitor)
    }

    // Answers

    /// Renders a page. `facts`: what its template names.
    func page(
        _ name: String, title: String, _ facts: [String: Any] = [:], status: Int = 200
    ) throws -> Response {
        var all = facts
        all["title"] = title
        all["base"] = base
        all["isSandbox"] = realm.isSandbox
        all["isVisitorKnown"] = true
        all["formToken"] = formToken
        all["visitorName"] = visitor?.name
        let storefronts = PageStorefronts.html(chosen: storefront)
        guard let bytes = PageText.page(name, all, storefronts: storefronts) else {
            throw PageMissing(name: name)
        }
        return Self.dressed(.bytes(bytes, type: "text/html; charset=utf-8", status: status))
    }

    /// 303 to a page of this realm.
    func redirect(_ path: String) -> Response {
        var response = Response.empty(status: 303)
        response.headers[.location] = base + path
        return Self.dressed(response)
    }

    /// A page that says what was wrong.
    func refused(_ refusal: Refusal) throws -> Response {
        let reply = ErrorReply(refusal)
        var facts = Self.problem(reply.error.message)
        facts["remedy"] = reply.error.rule.map { "Wanted: \($0)." }
        if visitor != nil {
            facts["back"] = "/store/account"
            facts["backLabel"] = "Back to your account"
        }
        return try page("message", title: "That did not work", facts, status: reply.status)
    }

    /// The facts of a page that says what was wrong.
    static func problem(_ text: String) -> [String: Any] {
        ["text": text, "isProblem": true, "back": "/", "backLabel": "Back to the store"]
    }

    func setting(
        _ name: String, _ value: String, seconds: Int?, in response: Response
    ) -> Response {
        var response = response
        let isSecure = call.approach.isSecure
        response.headers.append(
            .init(
                name: .setCookie,
                value: PageCookies.line(
                    name, value, path: base, seconds: seconds, isSecure: isSecure)))
        return response
    }

    /// Adds the headers of every page.
    static func dressed(_ response: Response) -> Response {
        var response = response
        response.headers[.contentSecurityPolicy] = policy
        response.headers[.xContentTypeOptions] = "nosniff"
        response.headers[.cacheControl] = "no-store"
        if let name = HTTPFields.Element.Name("Referrer-Policy") {
            response.headers[name] = "same-origin"
        }
        return response
    }

    // Forms

    /// Returns the fields of a form of this page's own. Refusals: `formForeign`,
    /// `formInvalid`.
    func form() async throws -> PageForm {
        if let site = call.header("Sec-Fetch-Site"), site != "same-origin", site != "none" {
            throw PageForm.foreign
        }
        let type = call.header("Content-Type")?.prefix { $0 != ";" }.lowercased()
        guard type == "application/x-www-form-urlencoded" else { throw PageForm.invalid }
        let form = try PageForm(try await call.bodyBytes(max: Self.formBytesMax))
        guard !formToken.isEmpty, form["form"] == formToken else { throw PageForm.foreign }
        return form
    }
}

/// A template that cannot be read.
struct PageMissing: Error {
    let name: String
}

extension UInt8 {
    /// Whether it is an ASCII letter or digit.
    fileprivate var isWordByte: Bool {
        (48...57).contains(self) || (65...90).contains(self) || (97...122).contains(self)
    }
}
