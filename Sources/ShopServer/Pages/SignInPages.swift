// SPDX-License-Identifier: Apache-2.0

import Commerce
import HTTPShell
import Hummingbird
import Shop
import StoreWire
import WireErrors

/// Signing in and out with a browser.
struct SignInPages: Sendable {
    private let visit: PageVisit

    init(_ visit: PageVisit) { self.visit = visit }

    func form() throws -> Response {
        guard visit.formToken.isEmpty else { return try page(visit, problem: nil) }
        let value = hexadecimal(visit.call.ports.randomness.bytes(16))
        let fresh = visit.knowing(PageCookies.form, value)
        return visit.setting(
            PageCookies.form, value, seconds: nil, in: try page(fresh, problem: nil))
    }

    func signIn() async throws -> Response {
        let form = try await visit.form()
        do {
            let token = try await visit.realm.visitors.signIn(
                name: form["name"], password: form["password"], visit.call.context)
            return visit.setting(
                PageCookies.session, token, seconds: Visitor.sessionSeconds,
                in: visit.redirect("/store/account"))
        } catch let refusal as Refusal {
            let reply = ErrorReply(refusal)
            return try page(visit, problem: reply.error.message, status: reply.status)
        }
    }

    func signOut() async throws -> Response {
        _ = try await visit.form()
        if let token = visit.cookies[PageCookies.session] {
            try await visit.realm.visitors.signOut(token: token, visit.call.context)
        }
        return visit.setting(PageCookies.session, "", seconds: 0, in: visit.redirect("/"))
    }

    private func page(
        _ visit: PageVisit, problem: String?, status: Int = 200
    ) throws -> Response {
        try visit.page(
            "signIn", title: "Sign in", problem.map { ["problem": $0] } ?? [:], status: status)
    }
}
