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
        guard address.path == "/" || address.path.hasPrefix("/store/") else { return nil }
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

    func explain(_ error: any Error) -> ErrorAnswer? { ErrorResponse.answer(error) }

    /// A browser is shown a page also where there is none, or none can be made.
    func restate(_ answer: ErrorAnswer, at path: String) -> ErrorAnswer {
        let address = RealmPath(path)
        guard address.path == "/" || address.path.hasPrefix("/store/") else { return answer }
        var facts = PageVisit.problem(
            answer.response.status.code == 404
                ? "There is no such page." : "The store cannot show this page at present.")
        facts["title"] = "That did not work"
        facts["base"] = address.realm.map { "/realms/\($0)" } ?? ""
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
        let base = address.realm.map { "/realms/\($0)" } ?? ""
        let cookies = PageCookies(call.header("Cookie") ?? "")
        let token = cookies[PageCookies.session]
        var visitor: Visitor?
        if let token { visitor = try await realm.visitors.visitor(token: token) }
        return PageVisit(
            call: call, parts: parts, realm: realm, base: base, cookies: cookies,
            visitor: visitor)
    }

    private func answer(_ route: PageRoute, _ visit: PageVisit) async throws -> Response {
        if route.access == .customer, visit.visitor == nil {
            return visit.redirect("/store/sign-in")
        }
        return try await route.answer(visit)
    }
}
