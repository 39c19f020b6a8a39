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

    /// Restates the shell's own answer to an error in the form that the clients of a call's
    /// address expect, also for an address without a route. No time limit ends it.
    func restate(_ answer: ErrorAnswer, of call: Call) async -> ErrorAnswer

    /// Returns the body in that form for a request whose method no parser knows, which
    /// is no call. Nil for the shell's own form. `path`: of the request's address.
    func unparsedBody(status: Int, path: String) -> [UInt8]?
}

extension RequestHandler {
    package func restate(_ answer: ErrorAnswer, of call: Call) async -> ErrorAnswer { answer }

    package func unparsedBody(status: Int, path: String) -> [UInt8]? { nil }
}

/// A request with a known address.
package struct MatchedRequest: Sendable {
    /// The address without its variable parts, for the log.
    let pattern: String
    /// Further facts for the log. Never a secret or a name.
    let facts: [String: String]
    /// Whether it is allowed over plain HTTP from anywhere, because it contains
    /// no secret.
    let isOpen: Bool
    /// Whether a parameter of its query may come more than once.
    let repeatsParameters: Bool
    let work: Work

    enum Work: Sendable {
        case answer(@Sendable () async throws -> Response)
        /// The answer may wait as long as the request asks.
        case wait(@Sendable () async throws -> FirstAnswer)

        var waits: Bool { if case .wait = self { true } else { false } }
    }

    package init(
        pattern: String, facts: [String: String] = [:], isOpen: Bool = false,
        repeatsParameters: Bool = false, answer: @escaping @Sendable () async throws -> Response
    ) {
        self.pattern = pattern
        self.facts = facts
        self.isOpen = isOpen
        self.repeatsParameters = repeatsParameters
        work = .answer(answer)
    }

    /// A request whose answer may wait as long as it asks.
    package init(
        pattern: String, facts: [String: String],
        waiting: @escaping @Sendable () async throws -> FirstAnswer
    ) {
        self.pattern = pattern
        self.facts = facts
        isOpen = false
        repeatsParameters = false
        work = .wait(waiting)
    }
}

/// What all requests of a server share. A class, so that each request, of
/// which thousands may wait, holds a reference to it and no copy.
final class ShellShared: Sendable {
    let configuration: ShellConfiguration
    let ports: ShellPorts
    let connections: Connections
    let figures: ShellFigures

    init(_ configuration: ShellConfiguration, _ ports: ShellPorts) {
        (self.configuration, self.ports) = (configuration, ports)
        connections = Connections(max: configuration.connectionsMax)
        figures = ShellFigures(connections, configuration, ports)
    }
}

/// Answers one request and logs one line. A class, because each request that
/// waits would hold copies of a value.
final class ShellResponder: HTTPResponder {
    typealias Context = ShellContext

    private static let requestIDBytesMax = 128

    private let handlers: [any RequestHandler]
    private let words: ErrorWords
    private let shared: ShellShared
    private let listening: Listening
    private let logger: Logger

    private var configuration: ShellConfiguration { shared.configuration }
    private var ports: ShellPorts { shared.ports }

    init(
        handlers: [any RequestHandler], words: ErrorWords, shared: ShellShared,
        listening: Listening, logger: Logger
    ) {
        (self.handlers, self.words, self.shared) = (handlers, words, shared)
        (self.listening, self.logger) = (listening, logger)
    }

    /// What comes before a wait and after it is done by other functions: this
    /// one's variables are kept while a request waits.
    func respond(to request: Request, context: Context) async throws -> Response {
        let exchange = begin(request, context)
        do {
            return finish(exchange, try await answer(exchange))
        } catch {
            return await finish(exchange, failed: error)
        }
    }

    private func begin(_ request: Request, _ context: Context) -> Exchange {
        let started = ports.monotonic()
        let id = requestID(request)
        var approach = Approach(request, context, configuration.proxies)
        approach.listener = listening.name(ofPort: approach.port)
        approach.isEncrypted = listening.isSecure(port: approach.port)
        let call = Call(
            request: request, requestID: id, approach: approach, shared: shared,
            channel: context.channel)
        do {
            guard RequestTarget.isText(request.uri.string) else {
                throw RequestMistake.addressInvalid
            }
            let (matched, handler) = try find(call)
            let work = Result { () throws -> MatchedRequest.Work in
                try check(call, matched)
                return matched.work
            }
            return Exchange(call, started, work, matched, handler)
        } catch {
            return Exchange(call, started, .failure(error), nil, nil)
        }
    }

    /// Checks that a request may ask for this address here.
    private func check(_ call: Call, _ matched: MatchedRequest) throws {
        if call.approach.isExposed, configuration.proxies != nil, !matched.isOpen {
            throw RequestMistake.notThroughProxy
        }
        try configuration.check(call.approach, isOpen: matched.isOpen)
        try Self.checkCoding(call.request)
        if !matched.repeatsParameters,
            let name = RequestTarget.doubledParameter(call.request.uri.query ?? "")
        {
            throw RequestMistake.queryInvalid(
                field: name, rule: "each parameter once", remedy: "send one value")
        }
    }

    private func finish(_ exchange: Exchange, failed error: any Error) async -> Response {
        let answer = await answer(to: error, exchange)
        return finish(exchange, answer.response, code: answer.code, fault: answer.fault)
    }

    private func answer(to error: any Error, _ exchange: Exchange) async -> ErrorAnswer {
        if let own = exchange.handler?.explain(error) { return own }
        var answer = ErrorAnswer(error, words: words)
        for handler in handlers { answer = await handler.restate(answer, of: exchange.call) }
        return answer
    }

    private func finish(
        _ exchange: Exchange, _ answered: Response, code: String? = nil, fault: String? = nil
    ) -> Response {
        let call = exchange.call
        var response = answered
        response.headers[ShellHeader.requestID.field] = call.requestID
        // HTTP allows no body in the answer to HEAD; a client would take it for
        // the next answer.
        if call.request.method == .head { response = response.createHeadResponse() }
        var line = exchange.line
        (line.code, line.fault) = (code, fault)
        line.status = response.status.code
        line.duration = ports.monotonic() - exchange.started
        line.count(in: shared.figures)
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

    private func answer(_ exchange: Exchange) async throws -> Response {
        switch try exchange.work.get() {
        case .answer(let answer):
            return try await ports.deadline(configuration.requestTimeout, or: .timedOut, answer)
        case .wait(let begin):
            return try await answer(exchange.call, begin)
        }
    }

    /// Not inlined: it is what a request that waits keeps.
    @inline(never)
    private func answer(
        _ call: Call, _ begin: @escaping @Sendable () async throws -> FirstAnswer
    ) async throws -> Response {
        switch try await inBriefTask(begin) {
        case .response(let response): return response
        case .later(let answer):
            defer { answer.close() }
            try await call.wait(for: answer)
            return try await inBriefTask(answer.answer)
        }
    }

    /// Returns the request's own id if it is well-formed, otherwise a new one.
    private func requestID(_ request: Request) -> String {
        if let id = request.headers[ShellHeader.requestID.field], Self.isRequestID(id) {
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

/// One request while it is answered. A class, so that a request that waits
/// keeps one of it.
private final class Exchange: Sendable {
    let call: Call
    let started: Duration
    let work: Result<MatchedRequest.Work, any Error>
    let handler: (any RequestHandler)?
    let line: RequestLine

    init(
        _ call: Call, _ started: Duration, _ work: Result<MatchedRequest.Work, any Error>,
        _ matched: MatchedRequest?, _ handler: (any RequestHandler)?
    ) {
        (self.call, self.started, self.work, self.handler) = (call, started, work, handler)
        var line = RequestLine(method: call.request.method.rawValue, requestID: call.requestID)
        if let matched {
            line.pattern = matched.pattern
            line.facts = matched.facts
            line.waits = matched.work.waits
        }
        self.line = line
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
