// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import StoreWire
import StrictJSON
import Synchronization

/// Reads and verifies the receipts that merchants' servers send, which need no key for it.
/// So the work is done on threads of its own, its amount is limited, a quarter of it for
/// one client, and each client has a number of requests an hour. A class, because all
/// requests of a store share it.
final class ReceiptDesk: Sendable {
    /// The longest request: the receipt of a customer with ten thousand purchases, as long
    /// as this store signs them.
    static let requestBytesMax = 4 * 1024 * 1024
    /// The most bytes in the queue for each worker: four of the longest requests, which
    /// take some tenths of a second each.
    static let bytesPerWorker = 4 * requestBytesMax
    /// What every request counts at least.
    static let bytesMin = 16_384
    /// Requests an hour of one client: Apple's highest limit of its server API.
    static let perHour = MerchantRate.fifty.perHour(isProduction: true)

    private let queue: WorkQueue
    private let limits = MerchantLimits()
    /// Keep the proven certificates. Made anew when another authority is made.
    private let verifiers = Mutex<Verifiers?>(nil)

    private struct Verifiers: Sendable {
        let roots: [[UInt8]]
        let receipts: ReceiptVerifier
        let transactions: JWSVerifier
    }

    init(workers: Int) {
        queue = WorkQueue(
            "receipts", workers: workers, workPerWorker: Self.bytesPerWorker,
            busy: Refusal(
                .tooMany, code: "receiptsBusy", "Too many receipts are being verified."))
    }

    /// Counts a request. Refusal: `tooManyRequests`.
    func count(_ client: String?, at wall: Timestamp) throws {
        let next = limits.count(
            BundleID(""), client ?? "here", perHour: Self.perHour, at: wall)
        guard let next else { return }
        var refusal = Refusal(
            .tooMany, code: "tooManyRequests", "This client has verified too many receipts.",
            rule: "at most \(Self.perHour) an hour",
            remedy: "wait for the next hour, or ask the App Store Server API")
        refusal.retryAfterSeconds = Int(
            max(1, (next.milliseconds(since: wall) + 999) / 1000))
        throw refusal
    }

    /// Reserves the place of a request before its body is read. `bytes`: the length that
    /// it announces. Nil if there is no room.
    func admit(_ bytes: Int?, for client: String?) -> WorkPlace? {
        let most = Self.requestBytesMax
        let work = min(max(bytes ?? most, Self.bytesMin), most)
        return try? queue.admit(work, for: client ?? "here")
    }

    func leave(_ place: WorkPlace) { queue.leave(place) }

    /// Reads the JSON of a ``VerifyReceiptRequest`` and verifies the receipt in it.
    /// `revoked`: serial numbers of certificates. Throws a ``BrokenReceipt``.
    func verify(
        _ body: [UInt8], in place: WorkPlace, roots: [[UInt8]], revoked: Set<String>
    ) async throws -> (request: VerifyReceiptRequest, receipt: AuthenticReceipt) {
        let verifiers = verifiers(roots)
        return try await queue.run(place) {
            let request: VerifyReceiptRequest
            do {
                request = try StrictJSON.decode(
                    VerifyReceiptRequest.self, from: body, bytesMax: Self.requestBytesMax)
            } catch { throw BrokenReceipt(.malformed) }
            let text = Self.withoutSpaces(request.receiptData ?? "")
            guard !text.isEmpty, let bytes = Base64.decode(text) else {
                throw BrokenReceipt(.malformed)
            }
            do throws(VerificationFailure) {
                let (receipt, serials) = try Self.verify(bytes, verifiers)
                if revoked.isDisjoint(with: serials) { return (request, receipt) }
            } catch {
                if error.code == .malformed { throw BrokenReceipt(.malformed) }
            }
            throw BrokenReceipt(.notAuthenticated)
        }
    }

    /// Returns the JSON of an answer, which may be as long as the receipt.
    func encode(_ answer: VerifyReceiptResponse) async throws -> [UInt8] {
        guard answer.receipt != nil || answer.transaction != nil else {
            return try StrictJSON.encode(answer)
        }
        return try await queue.run(0, for: nil) { try StrictJSON.encode(answer) }
    }

    /// Also accepts a signed transaction, which is what `transactionReceipt` has on a
    /// device, in the place of the property list that it had before iOS 7.
    private static func verify(
        _ bytes: [UInt8], _ verifiers: Verifiers
    ) throws(VerificationFailure) -> (AuthenticReceipt, serials: [String]) {
        guard bytes.starts(with: Self.beginOfJWS) else {
            let (receipt, serials) = try verifiers.receipts.verifySigned(bytes)
            return (.app(receipt), serials)
        }
        let compact = String(decoding: bytes, as: UTF8.self)
        let payload = try verifiers.transactions.verify(
            compact, as: JWSTransactionDecodedPayload.self, signedDate: \.signedDate, now: nil
        ).payload
        return (.transaction(payload), try verifiers.transactions.serials(of: compact))
    }

    /// `{"` in Base64.
    private static let beginOfJWS = Array("eyJ".utf8)

    private func verifiers(_ roots: [[UInt8]]) -> Verifiers {
        verifiers.withLock { kept in
            if let kept, kept.roots == roots { return kept }
            let made = Verifiers(
                roots: roots, receipts: ReceiptVerifier(roots: roots),
                transactions: JWSVerifier(roots: roots))
            kept = made
            return made
        }
    }

    /// Some clients break the lines of Base64.
    private static func withoutSpaces(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        guard bytes.contains(where: isSpace) else { return bytes }
        return bytes.filter { !isSpace($0) }
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 32 || byte == 10 || byte == 13 || byte == 9
    }
}

/// What a merchant's server sent, signed by this store.
enum AuthenticReceipt: Sendable {
    case app(AppReceipt)
    /// A single transaction.
    case transaction(JWSTransactionDecodedPayload)

    var isOfProduction: Bool {
        switch self {
        case .app(let receipt): receipt.environment == Environment.production.rawValue
        case .transaction(let payload):
            payload.environment == Environment.production.rawValue
        }
    }

    var bundleID: BundleID? {
        switch self {
        case .app(let receipt): receipt.bundleID
        case .transaction(let payload): payload.bundleId.map { BundleID($0) }
        }
    }

    /// The number of the first purchase in it. Nil if there is none.
    var firstTransaction: Int64? {
        switch self {
        case .app(let receipt): receipt.purchases.first.flatMap { Edge.number($0.transactionID) }
        case .transaction(let payload): payload.transactionId.flatMap(Edge.number)
        }
    }
}
