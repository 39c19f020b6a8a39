// SPDX-License-Identifier: Apache-2.0

import Commerce
import Hummingbird
import Ledger
import Storage

/// The server's addresses. Every writer has a token.
struct Routes {
    /// The writers by their tokens.
    let writers: [String: String]
    let purchases: Purchases

    struct Verify: Decodable {
        /// In Base64.
        let receipt: String
    }

    struct EnableComments: Decodable {
        /// The `id` of an unused purchase.
        let purchase: String
    }

    func router() -> Router<BasicRequestContext> {
        let router = Router()
        router.add(middleware: Refusals())
        router.post("purchases/verify") { request, context in
            let writer = try writer(of: request)
            let body = try await request.decode(as: Verify.self, context: context)
            return try await purchases.verify(body.receipt, of: writer)
        }
        router.post("journals/{id}/enableComments") { request, context in
            let writer = try writer(of: request)
            let body = try await request.decode(as: EnableComments.self, context: context)
            return try await purchases.enableComments(
                on: try context.parameters.require("id"), with: body.purchase, of: writer)
        }
        router.get("journals/{id}") { request, context in
            _ = try writer(of: request)
            let id = try context.parameters.require("id")
            return try await purchases.storage.read { try Journals.find(id, $0) }
        }
        return router
    }

    private func writer(of request: Request) throws -> String {
        let words = request.headers[.authorization]?.split(separator: " ") ?? []
        guard words.count == 2, words[0] == "Bearer", let writer = writers[String(words[1])] else {
            throw HTTPError(.unauthorized, message: "sign in")
        }
        return writer
    }
}

extension Journal: ResponseEncodable {}
extension Verified: ResponseEncodable {}

/// Converts what the journals and the ledger refuse to statuses.
private struct Refusals: RouterMiddleware {
    func handle(
        _ request: Request, context: BasicRequestContext,
        next: (Request, BasicRequestContext) async throws -> Response
    ) async throws -> Response {
        do { return try await next(request, context) } catch is UnknownJournal {
            throw HTTPError(.notFound, message: "there is no such journal")
        } catch let refusal as LedgerRefusal {
            let status: HTTPResponse.Status =
                switch refusal.kind {
                case .badRequest: .badRequest
                case .unproven: .unauthorized
                case .notFound: .notFound
                case .conflict: .conflict
                case .unavailable: .serviceUnavailable
                }
            throw HTTPError(status, message: "\(refusal.error.code): \(refusal.error.message)")
        }
    }
}
