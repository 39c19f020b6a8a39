// SPDX-License-Identifier: Apache-2.0

import Commerce
import HTTPShell
import Hummingbird
import Shop
import StoreWire

/// Answers the routes of ``Routes``, and checks their keys.
struct KeyedDoors: RequestHandler {
    let store: Store
    let realms: RealmRoute

    func match(_ call: Call) throws -> MatchedRequest? {
        let address = RealmPath(call.request.uri.path)
        if let refused = refuse(call, address) { return refused }
        let found = try Routes.table.find(call.request.method.rawValue, address.path) {
            address.realm == nil || !$0.access.isStoreWide
        }
        guard let (route, parts) = found else { return nil }
        let realm = realms.realm(of: call, address)
        return MatchedRequest(
            pattern: route.pattern, facts: MatchedRequest.facts(realm: realm),
            isOpen: route.access == .probe,
            // The App Store Server API repeats its filters: `productId=a&productId=b`.
            repeatsParameters: route.access.isMerchant
        ) {
            do {
                let (known, subject) = try await admit(call, to: route.access, realm)
                if case .merchant(let rate) = route.access, case .merchant(let merchant) = subject {
                    try merchant.count("\(route.method) \(route.pattern)", rate)
                }
                return try await route.answer(
                    Visit(store: store, call: known, parts: parts, subject: subject))
            } catch let refusal as Refusal where route.access.isMerchant {
                throw RefusalAtApplesDoor(refusal: refusal)
            }
        }
    }

    func explain(_ error: any Error) -> ErrorAnswer? { ErrorResponse.answer(error) }

    func restate(_ answer: ErrorAnswer, of call: Call) async -> ErrorAnswer {
        switch ApplesProtocol(at: call.request.uri.path) {
        case .serverAPI: ErrorResponse.asApple(answer)
        case .receipts: ErrorResponse.asReceiptStatus(answer)
        case nil: answer
        }
    }

    func unparsedBody(status: Int, path: String) -> [UInt8]? {
        switch ApplesProtocol(at: path) {
        case .serverAPI:
            ErrorResponse.appleError(of: status).flatMap { try? Response.jsonBytes($0) }
        case .receipts:
            ErrorResponse.receiptStatus(of: status).flatMap {
                try? Response.jsonBytes(VerifyReceiptResponse($0))
            }
        case nil: nil
        }
    }

    /// The parts of Apple's protocol that this store does not have, by the beginnings
    /// of their addresses.
    static let missing = [
        "/inApps/v1/messaging/": "retention messaging",
        "/advancedCommerce/": "the Advanced Commerce API",
    ]

    /// Refuses what is missing with a sentence, after the token.
    private func refuse(_ call: Call, _ address: RealmPath) -> MatchedRequest? {
        guard let (prefix, name) = Self.missing.first(where: { address.path.hasPrefix($0.key) })
        else { return nil }
        let realm = realms.realm(of: call, address)
        return MatchedRequest(
            pattern: prefix + "…", facts: MatchedRequest.facts(realm: realm),
            repeatsParameters: true
        ) {
            do {
                _ = try await admit(call, to: .merchant(.fifty), realm)
            } catch let refusal as Refusal {
                throw RefusalAtApplesDoor(refusal: refusal)
            }
            throw AppleRefusal(.notImplemented(name))
        }
    }

    /// Checks the key that a route needs. Returns the call under the key's name,
    /// and what the route is about.
    private func admit(
        _ call: Call, to access: Access, _ realm: String?
    ) async throws -> (Call, Visit.Subject) {
        switch access {
        case .probe, .everyone: return (call, .store)
        case .receipts: return (call, .address(realm: realm))
        case .store(let door): return (try await admit(call, to: door), .store)
        case .realm(let door):
            let known = try await admit(call, to: door)
            let realm = try await store.realm(named: realm ?? Store.defaultRealm)
            guard door != .control || realm.description.environment != .production else {
                throw RequestMistake.sandboxOnly
            }
            return (known, .realm(realm))
        case .merchant:
            // The realm that owns the key, if the address names none.
            var name = realm
            if name == nil { name = try await store.realmName(ofBearer: call.bearer) }
            let realm = try await store.realm(named: name ?? Store.defaultRealm)
            let merchant = try await realm.merchant.admit(bearer: call.bearer, call.context)
            // Under one of Apple's names this is the environment that Apple has there.
            let asked = call.approach.host.flatMap(OfficialHosts.environment)
            let isHere = asked == nil || asked == realm.description.environment
            return (call, .merchant(isHere ? merchant : merchant.elsewhere))
        }
    }

    /// Checks the key for the door. The call continues under the key's name.
    private func admit(_ call: Call, to door: Door) async throws -> Call {
        guard let key = call.bearer else { throw RequestMistake.keyMissing(door) }
        switch try await store.knock(key, at: door, call.context) {
        case .admitted(let name):
            var call = call
            call.actor = name
            return call
        case .otherDoor: throw RequestMistake.keyOfAnotherDoor(door)
        case .refused: throw RequestMistake.keyWrong(door)
        }
    }
}

/// The protocol of Apple's that the clients of an address speak, whether there is a route
/// or not.
private enum ApplesProtocol {
    case serverAPI, receipts

    init?(at path: String) {
        let parts = RealmPath(path).path.split(
            separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count > 1, parts[0].isEmpty else { return nil }
        switch parts[1] {
        case "inApps", "advancedCommerce": self = .serverAPI
        // With a slash at its end it is no route.
        case "verifyReceipt" where parts.count == 2 || parts[2].isEmpty: self = .receipts
        default: return nil
        }
    }
}

extension Call {
    /// The facts about the call that the store receives.
    var context: Shop.RequestContext {
        Shop.RequestContext(
            requestID: requestID, actor: actor ?? Store.unnamedOperator,
            client: approach.client?.description)
    }
}
