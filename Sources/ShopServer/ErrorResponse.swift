// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import Shop
import SignedData
import Storage
import StoreWire
import StrictJSON

/// The only place that turns refusals, faults and mistakes into statuses and
/// bodies. Nothing of the inside is told: a fault's reason goes to the log.
struct ErrorResponse {
    let response: Response
    /// The refusal's code, for the log.
    let code: String?
    /// What went wrong on our side, for the log; nil when the request was at fault.
    let fault: String?

    init(_ error: any Error) {
        switch error {
        case let refusal as Refusal: self.init(Self.status(refusal.kind), refusal.error)
        case let refusal as AppleRefusal: self.init(refusal)
        case let mistake as RequestMistake: self.init(mistake)
        case let failure as JSONFailure: self.init(400, Self.notJSON(failure))
        case let failure as DecodingError: self.init(400, Self.wrongShape(failure))
        case let fault as StorageFault: self.init(fault)
        case is CancellationError: self.init(503, Self.stopping, retryAfterSeconds: 1)
        default: self.init(500, Self.bug, fault: "\(type(of: error))")
        }
    }

    private init(
        _ status: Int, _ error: WireError, allowed: [String] = [],
        retryAfterSeconds: Int? = nil, fault: String? = nil
    ) {
        let body = try? Response.json(error, status: status)
        var response = body ?? .empty(status: status)
        if !allowed.isEmpty { response.headers[.allow] = allowed.joined(separator: ", ") }
        if let retryAfterSeconds { response.headers[.retryAfter] = "\(retryAfterSeconds)" }
        if status == 401 { response.headers[.wwwAuthenticate] = "Bearer" }
        self.response = response
        self.code = error.code
        self.fault = fault
    }

    /// Apple answers 401 without a body, all else with its own.
    private init(_ refusal: AppleRefusal) {
        let body = refusal.response.flatMap { try? Response.json($0, status: refusal.status) }
        response = body ?? .empty(status: refusal.status)
        code = refusal.response.map { "\($0.errorCode)" }
        fault = nil
    }

    private init(_ fault: StorageFault) {
        let reason = fault.description
        switch fault.code {
        case .busy: self.init(503, Self.busy, retryAfterSeconds: 1, fault: reason)
        case .outcomeUnknown:
            self.init(503, Self.outcomeUnknown, retryAfterSeconds: 1, fault: reason)
        case .unavailable, .full, .readOnly:
            self.init(503, Self.storageUnavailable, retryAfterSeconds: 5, fault: reason)
        default: self.init(500, Self.bug, fault: reason)
        }
    }

    private init(_ mistake: RequestMistake) {
        let error = Self.described(mistake)
        switch mistake {
        case .unknownPath: self.init(404, error)
        case .wrongMethod(let allowed): self.init(405, error, allowed: allowed)
        case .queryInvalid, .bodyCutShort: self.init(400, error)
        case .keyMissing, .keyWrong, .tokenMissing: self.init(401, error)
        case .keyOfAnotherDoor, .sandboxOnly: self.init(403, error)
        case .bodyTooLarge: self.init(413, error)
        case .bodyTimedOut: self.init(408, error)
        case .timedOut: self.init(503, error, retryAfterSeconds: 1, fault: "timed out")
        case .notReady(let reason): self.init(503, error, retryAfterSeconds: 1, fault: reason)
        // Nobody reads it; the number is the one that proxies log for this.
        case .clientGone: self.init(499, error)
        }
    }

    static func status(_ kind: Refusal.Kind) -> Int {
        switch kind {
        case .badRequest: 400
        case .unauthorised: 401
        case .forbidden: 403
        case .notFound: 404
        case .conflict: 409
        case .tooLarge: 413
        case .notImplemented: 501
        }
    }
}

extension ErrorResponse {
    private static let stopping = WireError(
        code: "stopping", message: "The server is stopping.",
        rule: "what was written before stays written",
        remedy: "ask again, a purchase under the same purchase id")
    private static let busy = WireError(
        code: "busy", message: "The store is busy; nothing was done.",
        remedy: "ask again in a moment")
    private static let storageUnavailable = WireError(
        code: "storageUnavailable", message: "The store's storage does not answer as it should.",
        remedy: "ask again later; the operator finds the reason in the server's log")
    private static let outcomeUnknown = WireError(
        code: "outcomeUnknown", message: "Whether this was done is not known.",
        rule: "the same request again is done at most once",
        remedy: "ask again, a purchase under the same purchase id")
    private static let bug = WireError(
        code: "internal", message: "The store failed to answer this.",
        remedy: "ask again; the operator finds the reason in the server's log under the "
            + "request id")

    private static func notJSON(_ failure: JSONFailure) -> WireError {
        WireError(
            code: "notJSON", message: "The body is not JSON as this protocol takes it.",
            field: "body", rule: failure.description,
            remedy: "send one JSON object in UTF-8, without duplicate keys")
    }

    private static func wrongShape(_ failure: DecodingError) -> WireError {
        switch failure {
        case .keyNotFound(let key, let context):
            let field = path(context.codingPath + [key])
            return WireError(
                code: "fieldMissing", message: "A field is missing.", field: field,
                rule: "`\(field)` is required", remedy: "send it")
        case .typeMismatch(_, let context), .valueNotFound(_, let context),
            .dataCorrupted(let context):
            return fieldInvalid(context)
        @unknown default:
            return WireError(
                code: "fieldInvalid", message: "A field is not as it should be.", field: "body")
        }
    }

    private static func fieldInvalid(_ context: DecodingError.Context) -> WireError {
        WireError(
            code: "fieldInvalid", message: "A field is not as it should be.",
            field: context.codingPath.isEmpty ? "body" : path(context.codingPath),
            rule: context.debugDescription, remedy: "send it as the protocol describes it")
    }

    /// `ids[3]`, `customer.name`.
    private static func path(_ keys: [any CodingKey]) -> String {
        keys.reduce(into: "") { path, key in
            if let index = key.intValue {
                path += "[\(index)]"
            } else {
                path += path.isEmpty ? key.stringValue : "." + key.stringValue
            }
        }
    }
}

extension ErrorResponse {
    private static func described(_ mistake: RequestMistake) -> WireError {
        switch mistake {
        case .unknownPath:
            WireError(
                code: "unknownPath", message: "There is nothing at this address.", field: "path",
                rule: "the addresses of docs/PROTOCOL.md, behind /realms/NAME or without it",
                remedy: "check the store's URL and the realm's prefix")
        case .wrongMethod(let allowed):
            WireError(
                code: "wrongMethod", message: "This address takes another method.",
                field: "method", rule: allowed.joined(separator: " or "),
                remedy: "use one of them")
        case .queryInvalid(let field, let rule, let remedy):
            WireError(
                code: "queryInvalid", message: "A part of the query is not as it should be.",
                field: field, rule: rule, remedy: remedy)
        case .bodyTooLarge(let bytesMax):
            WireError(
                code: "bodyTooLarge", message: "The body is too large.", field: "body",
                rule: "at most \(bytesMax) bytes", remedy: "ask in several requests")
        case .bodyTimedOut:
            WireError(
                code: "bodyTimedOut", message: "The body did not arrive in time.",
                field: "body", rule: "the whole body follows its head at once",
                remedy: "send the request again")
        case .bodyCutShort:
            WireError(
                code: "bodyCutShort", message: "The body ended early or is no HTTP.",
                field: "body", rule: "as many bytes as Content-Length tells",
                remedy: "send the request again")
        case .timedOut:
            WireError(
                code: "timedOut", message: "The answer took too long and was given up.",
                rule: "what was written before stays written",
                remedy: "ask again, a purchase under the same purchase id")
        case .notReady(let reason):
            WireError(code: "notReady", message: reason, remedy: "ask again in a moment")
        case .clientGone:
            WireError(code: "clientGone", message: "Whoever asked has gone.")
        case .tokenMissing, .keyMissing, .keyWrong, .keyOfAnotherDoor, .sandboxOnly:
            describedDoor(mistake)
        }
    }

    private static func describedDoor(_ mistake: RequestMistake) -> WireError {
        switch mistake {
        case .keyMissing(let door):
            WireError(
                code: "keyMissing", message: "This door wants a key.", field: "Authorization",
                rule: "`Bearer` and the \(door.rawValue) key",
                remedy: "take the key from the store's run.json")
        case .keyWrong(let door):
            WireError(
                code: "keyWrong", message: "This key opens nothing here.",
                field: "Authorization", rule: "`Bearer` and the \(door.rawValue) key",
                remedy: "take the key from the store's run.json")
        case .keyOfAnotherDoor(let door):
            WireError(
                code: "keyOfAnotherDoor", message: "This key opens another door.",
                field: "Authorization", rule: "`Bearer` and the \(door.rawValue) key",
                remedy: "use the \(door.rawValue) key of the store's run.json")
        case .sandboxOnly:
            WireError(
                code: "sandboxOnly", message: "This realm is a production realm.",
                field: "realm", rule: "the control door is for sandboxes",
                remedy: "create a sandbox")
        default:
            WireError(
                code: "tokenMissing", message: "A session is wanted here.",
                field: "Authorization", rule: "`Bearer` and the token that signing in gave",
                remedy: "sign in first")
        }
    }
}
