// SPDX-License-Identifier: Apache-2.0

public import Foundation
import Live
import StoreWire
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The device protocol over HTTP, through URLSession. No cookies, no cache.
///
/// A class, because its calls share connections, and because a session that
/// does not keep its own time-out is replaced by a new one: a call ends when
/// it is due to end, whatever becomes of the platform's.
public final class HTTPTransport: StoreTransport {
    /// How long a call that the store answers at once may stay silent.
    static let silenceMaxSeconds = 30.0
    /// How much longer the whole call may take than it may stay silent.
    static let wholeSeconds = 30.0

    private let storeURL: URL
    private let sleep: @Sendable (Duration) async throws -> Void
    private let session: Mutex<URLSession>

    /// `storeURL`: the store's, with the realm's prefix where it has one.
    public convenience init(storeURL: URL) {
        self.init(storeURL: storeURL, sleep: Live.sleep)
    }

    init(storeURL: URL, sleep: @escaping @Sendable (Duration) async throws -> Void) {
        // What is not encrypted goes to the store alone: passwords and sessions
        // are in it. A proxy sees of HTTPS only the store's name.
        if storeURL.scheme?.lowercased() != "https", let host = storeURL.host {
            Live.keepFromProxies(host.trimmingCharacters(in: ["[", "]"]))
        }
        self.storeURL = storeURL
        self.sleep = sleep
        session = Mutex(Self.makeSession())
        LastCalls.watch()
    }

    deinit {
        session.withLock { $0.finishTasksAndInvalidate() }
    }

    /// Which session the next call goes through.
    var currentSession: URLSession { session.withLock { $0 } }

    private static func makeSession() -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        return URLSession(configuration: configuration)
    }

    public func send(_ call: DeviceCall) async throws(TransportFailure) -> DeviceReply {
        let request = try request(for: call)
        let result = await load(request)
        switch result {
        case .success(let (data, response)):
            return DeviceReply(
                status: response.statusCode, body: Array(data),
                etag: response.value(forHTTPHeaderField: "ETag"))
        case .failure(let error):
            throw Self.failure(error)
        }
    }

    private func request(for call: DeviceCall) throws(TransportFailure) -> URLRequest {
        var base = storeURL.absoluteString
        while base.hasSuffix("/") { base.removeLast() }
        guard let url = URL(string: base + call.route.path) else {
            throw .notSent(URLError(.badURL))
        }
        var request = URLRequest(url: url)
        request.httpMethod = call.route.method
        request.timeoutInterval = Self.silenceMaxSeconds
        if case .transactions(_, _, let waitSeconds) = call.route {
            request.timeoutInterval += Double(waitSeconds)
        }
        request.setValue(call.requestID, forHTTPHeaderField: "X-Request-Id")
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        if let body = call.body {
            request.httpBody = Data(body)
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        if let token = call.token {
            request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        }
        if let etag = call.ifNoneMatch {
            request.setValue(etag, forHTTPHeaderField: "If-None-Match")
        }
        return request
    }

    private func load(_ request: URLRequest) async -> Result<(Data, HTTPURLResponse), any Error> {
        let flight = Flight()
        let session = session.withLock { $0 }
        let deadline = Task { [sleep] in
            try await sleep(.seconds(request.timeoutInterval + Self.wholeSeconds))
            var stuck: URLSession?
            flight.end(.failure(URLError(.timedOut))) { stuck = replace(session) }
            stuck?.invalidateAndCancel()
        }
        defer { deadline.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                flight.begin(continuation)
                let task = session.dataTask(with: request) { data, response, error in
                    guard LastCalls.ended(flight) else { return }
                    if let response = response as? HTTPURLResponse, error == nil {
                        flight.end(.success((data ?? Data(), response)))
                    } else {
                        flight.end(.failure(error ?? URLError(.badServerResponse)))
                    }
                }
                flight.fly(task)
            }
        } onCancel: {
            flight.end(.failure(URLError(.cancelled)))
        }
    }

    /// Lets go of a session in which a call outstayed its time; answers it
    /// when it was the current one, to be invalidated.
    private func replace(_ stuck: URLSession) -> URLSession? {
        session.withLock { session in
            guard session === stuck else { return nil }
            session = Self.makeSession()
            return stuck
        }
    }

    /// Only what is certain not to have been sent is called so. Linux has
    /// one number (-1) for a TLS handshake that failed and for a connection that
    /// broke later, which therefore counts as unknown; a device signs in before
    /// it sends a payment, so that a store without TLS fails the payment there.
    static func failure(_ error: any Error) -> TransportFailure {
        guard let error = error as? URLError else { return .unknown(nil) }
        return notSent.contains(error.code) ? .notSent(error) : .unknown(error)
    }

    private static let notSent: Set<URLError.Code> = [
        .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .notConnectedToInternet,
        .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
        .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid,
        .clientCertificateRejected, .clientCertificateRequired, .badURL, .unsupportedURL,
        .internationalRoamingOff, .dataNotAllowed,
        .appTransportSecurityRequiresSecureConnection,
    ]
}

/// One call: it ends once, by its answer, its deadline or its cancellation,
/// whichever is first. A class with a lock: they come from any thread.
private final class Flight: Sendable {
    typealias Outcome = Result<(Data, HTTPURLResponse), any Error>

    private struct State {
        var continuation: CheckedContinuation<Outcome, Never>?
        var task: URLSessionDataTask?
        var outcome: Outcome?
    }

    private let state = Mutex(State())

    func begin(_ continuation: CheckedContinuation<Outcome, Never>) {
        let outcome = state.withLock { state in
            if state.outcome == nil { state.continuation = continuation }
            return state.outcome
        }
        if let outcome { continuation.resume(returning: outcome) }
    }

    func fly(_ task: URLSessionDataTask) {
        let isOver = state.withLock { state in
            state.task = task
            return state.outcome != nil
        }
        if isOver { task.cancel() } else { LastCalls.start(task, of: self) }
    }

    /// `first` is done before the caller hears of it, if this is what ends it.
    func end(_ outcome: Outcome, first: () -> Void = {}) {
        let (isFirst, continuation, task) = state.withLock { state in
            let isFirst = state.outcome == nil
            if isFirst { state.outcome = outcome }
            defer { (state.continuation, state.task) = (nil, nil) }
            return (isFirst, state.continuation, state.task)
        }
        if isFirst { first() }
        continuation?.resume(returning: outcome)
        if case .failure = outcome { task?.cancel() }
    }
}
