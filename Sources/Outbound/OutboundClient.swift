// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

@_implementationOnly import CCurl

/// Calls other people's servers over HTTP. One plain thread waits for all
/// calls, so hanging calls block no thread of Swift's pool. Every call has a
/// time-out. The client does not follow redirects, keep cookies or send
/// passwords, and uses a proxy only if the request allows it.
///
/// ```swift
/// let client = OutboundClient(policy: .guarded)
/// let answer = try await client.send(OutboundRequest("POST", url, body: json))
/// ```
///
/// A class, because its callers share the thread and the connections that are
/// kept open. It ends with its last reference.
public final class OutboundClient: Sendable {
    private let policy: AddressPolicy
    private let loop: TransferLoop
    private let roots: [UInt8]?
    private let numbers = Atomic<UInt64>(0)

    /// `trustedRoots`: the certificates to trust instead of the machine's own,
    /// as PEM.
    public init(policy: AddressPolicy, trustedRoots: String? = nil) {
        self.policy = policy
        roots = trustedRoots.map { Array($0.utf8) }
        loop = TransferLoop()
        let loop = loop
        let thread = Thread { loop.run() }
        thread.name = "outbound"
        thread.start()
    }

    deinit {
        loop.close()
    }

    /// Sends a request and waits for the whole answer. Throws the code
    /// `cancelled` if the task is cancelled. A body that goes into the stream is
    /// not in the answer.
    public func send(
        _ request: OutboundRequest, into stream: OutboundStream? = nil
    ) async throws(OutboundFault) -> OutboundResponse {
        let url = try CheckedURL(request.url, policy)
        try Self.check(request)
        let number = numbers.add(1, ordering: .relaxed).newValue
        let (loop, policy, roots) = (loop, policy, roots)
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                loop.start(
                    Transfer(
                        number: number, url: url, request, policy, roots: roots,
                        stream: stream, continuation: continuation))
                // The task was cancelled before the call started, so the
                // handler below ran too early.
                if Task.isCancelled { loop.cancel(number) }
            }
        } onCancel: {
            loop.cancel(number)
        }
        return try outcome.get()
    }

    /// Ends every running call with the code `closed`. Later calls fail with it
    /// too.
    public func close() {
        loop.close()
    }

    /// Closes, and waits until the client's thread has left libcurl and its TLS
    /// library, or until the time is over. Call this before the process exits,
    /// because exiting unloads these libraries while the thread may still use
    /// them.
    public func close(waitingMilliseconds: Int) {
        loop.close()
        loop.waitForEnd(milliseconds: waitingMilliseconds)
    }

    /// Throws if foreign text could become additional headers.
    private static func check(_ request: OutboundRequest) throws(OutboundFault) {
        let isMethod = request.method.utf8.allSatisfy { (65...90).contains($0) }
        let areHeaders = request.headers.allSatisfy { header in
            !header.name.isEmpty
                && header.name.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x3A }
                && header.value.utf8.allSatisfy { (0x20...0x7E).contains($0) }
        }
        guard isMethod, !request.method.isEmpty, areHeaders else {
            throw OutboundFault(.other, "a method or header that HTTP does not allow")
        }
    }
}
