// SPDX-License-Identifier: Apache-2.0

import Commerce
import HTTPShell
import Hummingbird
import Mustache
import Shop
import StoreWire
import WireErrors

/// The store's own pages, for browsers. Forms are answered only for pages of this store:
/// the shell refuses another site's, and each form carries a token of the session.
struct PageDoor: RequestHandler {
    let store: Store
    let realms: RealmRoute

    func match(_ call: Call) throws -> MatchedRequest? {
        let address = RealmPath(call.request.uri.path)
        guard Self.isPage(address.path) else { return nil }
        let method = call.request.method
        let found = try PageRoutes.table.find(
            method == .head ? "GET" : method.rawValue, address.path)
        guard let (route, parts) = found else { return nil }
        let name = realms.realm(of: call, address)
        return MatchedRequest(pattern: route.pattern, facts: MatchedRequest.facts(realm: name)) {
            let realm = try await store.realm(named: name ?? Store.defaultRealm)
            let visit = try await visit(call, parts, realm, address)
            do {
                return try await answer(route, visit)
            } catch let refusal as Refusal {
                return try visit.refused(refusal)
            }
        }
    }

    private static func isPage(_ path: String) -> Bool {
        path == "/" || path == "/store" || path.hasPrefix("/store/")
    }

    /// What is refused before there is a visit: the realm is unknown. The page names none.
    func explain(_ error: any Error) -> ErrorAnswer? {
        ErrorResponse.answer(error).map { Self.page(for: $0, in: nil, base: "") }
    }

    /// A browser is shown a page also where there is none, or none can be made.
    func restate(_ answer: ErrorAnswer, of call: Call) async -> ErrorAnswer {
        let address = RealmPath(call.request.uri.path)
        guard Self.isPage(address.path) else { return answer }
        let name = realms.realm(of: call, address) ?? Store.defaultRealm
        var realm = store.knownRealm(named: name)
        // A store that fails, or is too slow, is not asked again.
        if realm == nil, answer.response.status.code < 500 {
            realm = try? await store.realm(named: name)
        }
        return Self.page(for: answer, in: realm, base: realm == nil ? "" : Self.base(address))
    }

    private static func base(_ address: RealmPath) -> String {
        address.realm.map { "/realms/\($0)" } ?? ""
    }

    /// The browser's session is not looked up, so the page shows neither an account nor a
    /// link for signing in.
    private static func page(
        for answer: ErrorAnswer, in realm: Realm?, base: String
    ) -> ErrorAnswer {
        var facts = PageVisit.problem(
            answer.response.status.code == 404
                ? "There is no such page." : "The store cannot show this page at present.")
        facts["title"] = "That did not work"
        facts["base"] = base
        facts["isSandbox"] = realm?.isSandbox ?? false
        guard let bytes = PageText.page("message", facts) else { return answer }
        let status = answer.response.status.code
        var response = PageVisit.dressed(
            .bytes(bytes, type: "text/html; charset=utf-8", status: status))
        for name in [HTTPFields.Element.Name.allow, .retryAfter] {
            response.headers[name] = answer.response.headers[name]
        }
        return ErrorAnswer(response: response, code: answer.code, fault: answer.fault)
    }

    private func visit(
        _ call: Call, _ parts: PathParts, _ realm: Realm, _ address: RealmPath
    ) async throws -> PageVisit {
        let cookies = PageCookies(call.header("Cookie") ?? "")
        let token = cookies[PageCookies.session]
        var visitor: Visitor?
        if let token { visitor = try await realm.visitors.visitor(token: token) }
        return PageVisit(
            call: call, parts: parts, realm: realm, base: Self.base(address), cookies: cookies,
            visitor: visitor)
    }

    private func answer(_ route: PageRoute, _ visit: PageVisit) async throws -> Response {
        if route.access == .customer, visit.visitor == nil {
            return visit.redirect("/store/sign-in")
        }
        return try await route.answer(visit)
    }
}

extension Realm {
    /// Whether its pages say that nothing costs money.
    var isSandbox: Bool { description.environment != .production }
}
