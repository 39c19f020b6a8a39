// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

@_implementationOnly import CCurl

/// Calls other people's servers over HTTP: one plain thread of its own does
/// all the waiting, so however many calls hang, no thread of Swift's pool is
/// held. Time-outs bound every call; redirects, cookies and passwords are
/// never followed, kept or sent, and a proxy is used only where a request says so.
///
/// ```swift
/// let client = OutboundClient(policy: .guarded)
/// let answer = try await client.send(OutboundRequest("POST", url, body: json))
/// ```
///
/// A class, because its callers share the thread and the connections that
/// are kept open. Ends with its last owner.
public final class OutboundClient: Sendable {
    private let policy: AddressPolicy
    private let loop: TransferLoop
    private let roots: [UInt8]?
    private let numbers = Atomic<UInt64>(0)

    /// `trustedRoots`: PEM of the certificates to trust instead of the
    /// machine's own.
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

    /// Sends, and waits for the whole answer. A cancelled task's call ends
    /// with the code `cancelled`.
    public func send(
        _ request: OutboundRequest
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
                        continuation: continuation))
                // Cancelled before it was started: the handler below came too early.
                if Task.isCancelled { loop.cancel(number) }
            }
        } onCancel: {
            loop.cancel(number)
        }
        return try outcome.get()
    }

    /// Ends every call under way with the code `closed`. Later calls do too.
    public func close() {
        loop.close()
    }

    /// Closes, and waits until the client's thread has left libcurl and its
    /// TLS library, or the time is over: for a process that is about to exit,
    /// which takes these away from under the thread.
    public func close(waitingMilliseconds: Int) {
        loop.close()
        loop.waitForEnd(milliseconds: waitingMilliseconds)
    }

    /// Words from outside must not become headers of their own.
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
