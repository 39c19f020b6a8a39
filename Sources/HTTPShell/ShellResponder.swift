// SPDX-License-Identifier: Apache-2.0

import Commerce
package import Hummingbird
import Logging
import WireErrors

/// Some addresses of a server, such as its doors or its pages. A server may have
/// several handlers; the first that knows an address answers.
package protocol RequestHandler: Sendable {
    /// Finds what a request asks for, from its address and head alone. Nil if
    /// the address belongs to no route of this handler. Throws
    /// ``RequestMistake``.
    func match(_ call: Call) throws -> MatchedRequest?

    /// Returns the status and body for an error of this handler's own. Nil for
    /// errors that every server may meet; the shell explains them.
    func explain(_ error: any Error) -> ErrorAnswer?
}

/// A request with a known address.
package struct MatchedRequest: Sendable {
    /// The address without its variable parts, for the log.
    let pattern: String
    /// Further facts for the log. Never a secret or a name.
    let facts: [String: String]
    /// Whether the answer waits as long as the request asks.
    let waitsByItself: Bool
    /// Whether it is allowed over plain HTTP from anywhere, because it contains
    /// no secret.
    let isOpen: Bool
    /// Whether a parameter of its query may come more than once.
    let repeatsParameters: Bool
    let answer: @Sendable () async throws -> Response

    package init(
        pattern: String, facts: [String: String] = [:], waitsByItself: Bool = false,
        isOpen: Bool = false, repeatsParameters: Bool = false,
        answer: @escaping @Sendable () async throws -> Response
    ) {
        self.pattern = pattern
        self.facts = facts
        self.waitsByItself = waitsByItself
        self.isOpen = isOpen
        self.repeatsParameters = repeatsParameters
        self.answer = answer
    }
}

/// Answers one request and logs one line.
struct ShellResponder: HTTPResponder {
    typealias Context = ShellContext

    static let requestIDName = "X-Request-Id"
    private static let requestIDBytesMax = 128

    let handlers: [any RequestHandler]
    let words: ErrorWords
    let configuration: ShellConfiguration
    let ports: ShellPorts
    let connections: Connections
    let figures: ShellFigures
    let listening: Listening
    let logger: Logger

    func respond(to request: Request, context: Context) async throws -> Response {
        let started = ports.monotonic()
        let id = requestID(request)
        var approach = Approach(request, context, configuration.proxies)
        approach.listener = listening.name(ofPort: approach.port)
        let call = Call(
            request: request, requestID: id, approach: approach,
            configuration: configuration, ports: ports, connections: connections, figures: figures)
        var line = RequestLine(method: request.method.rawValue, requestID: id)
        var response: Response
        var handler: (any RequestHandler)?
        do {
            guard RequestTarget.isText(request.uri.string) else {
                throw RequestMistake.addressInvalid
            }
            let matched: MatchedRequest
            (matched, handler) = try find(call)
            line.pattern = matched.pattern
            line.facts = matched.facts
            line.waits = matched.waitsByItself
            if call.approach.isExposed, configuration.proxies != nil, !matched.isOpen {
                throw RequestMistake.notThroughProxy
            }
            try configuration.check(call.approach, isOpen: matched.isOpen)
            try Self.checkCoding(request)
            if !matched.repeatsParameters,
                let name = RequestTarget.doubledParameter(request.uri.query ?? "")
            {
                throw RequestMistake.queryInvalid(
                    field: name, rule: "each parameter once", remedy: "send one value")
            }
            response = try await answer(matched)
        } catch {
            let answer = handler?.explain(error) ?? ErrorAnswer(error, words: words)
            line.fault = answer.fault
            line.code = answer.code
            response = answer.response
        }
        if let name = HTTPFields.Element.Name(Self.requestIDName) { response.headers[name] = id }
        // HTTP allows no body in the answer to HEAD; a client would take it for
        // the next answer.
        if request.method == .head { response = response.createHeadResponse() }
        if call.end.isReached { response.headers[.connection] = "close" }
        line.status = response.status.code
        line.duration = ports.monotonic() - started
        line.count(in: figures)
        line.write(to: logger)
        return response
    }

    /// RFC 9112, 6.1. The library below decodes `chunked` and ignores others.
    private static func checkCoding(_ request: Request) throws(RequestMistake) {
        let codings = request.headers[values: .transferEncoding].map { $0.lowercased() }
        guard codings.isEmpty || codings == ["chunked"] else { throw .codingUnknown }
    }

    /// An address or a method that is unknown is reported under the server's own
    /// names only.
    private func find(_ call: Call) throws -> (MatchedRequest, any RequestHandler) {
        do {
            for handler in handlers {
                if let matched = try handler.match(call) { return (matched, handler) }
            }
            throw RequestMistake.unknownPath
        } catch {
            try configuration.check(call.approach, isOpen: false)
            throw error
        }
    }

    private func answer(_ matched: MatchedRequest) async throws -> Response {
        if matched.waitsByItself { return try await matched.answer() }
        return try await ports.deadline(configuration.requestTimeout, or: .timedOut) {
            try await matched.answer()
        }
    }

    /// Returns the request's own id if it is well-formed, otherwise a new one.
    private func requestID(_ request: Request) -> String {
        if let name = HTTPFields.Element.Name(Self.requestIDName),
            let id = request.headers[name], Self.isRequestID(id)
        {
            return id
        }
        return ports.randomness.uuid()
    }

    static func isRequestID(_ text: String) -> Bool {
        (1...requestIDBytesMax).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0)
                    || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
                    || $0 == UInt8(ascii: ".")
            }
    }
}

/// What is logged about one request. Never a token, a password, a name or a
/// complete address.
struct RequestLine {
    let method: String
    let requestID: String
    /// Missing if the address is unknown.
    var pattern: String?
    var facts: [String: String] = [:]
    /// Whether the request may wait as long as it asks.
    var waits = false
    var status = 0
    var duration = Duration.zero
    /// The code of the refusal.
    var code: String?
    /// The fault on the server's side.
    var fault: String?

    init(method: String, requestID: String) {
        self.method = method
        self.requestID = requestID
    }

    private var knownMethod: String { Self.knownMethods.contains(method) ? method : "other" }

    func count(in figures: ShellFigures) {
        figures.count(pattern ?? "unknown", knownMethod, status, waits ? nil : duration)
    }

    func write(to logger: Logger) {
        let level: Logger.Level = fault == nil ? .info : .error
        guard logger.logLevel <= level else { return }
        let (seconds, attoseconds) = duration.components
        let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        var metadata: Logger.Metadata = [
            "method": .string(knownMethod),
            "route": .string(pattern ?? "unknown"), "status": .stringConvertible(status),
            "milliseconds": .stringConvertible(milliseconds), "requestId": .string(requestID),
        ]
        for (key, value) in facts { metadata[key] = .string(value) }
        if let code { metadata["code"] = .string(code) }
        if let fault { metadata["fault"] = .string(fault) }
        logger.log(level: level, "request", metadata: metadata)
    }

    private static let knownMethods: Set = [
        "GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS",
    ]
}
