// SPDX-License-Identifier: Apache-2.0

import Foundation
import SignedData
import StoreWire

/// Why the device could not do something.
enum DeviceFault: Error {
    /// Nothing reached the store.
    case notSent(URLError)
    /// The call may have reached the store, but there is no answer.
    case unknown(URLError?)
    /// The store refused the call itself.
    case refused(status: Int, WireError)
    /// The device is not configured for it (trust, settings). Contains a
    /// sentence.
    case setUp(String)
    /// Data that the store signed is not valid.
    case unverified(VerificationFailure)
    /// The device's own disk failed.
    case disk(any Error)
    /// Another process changed the file first, or the task was cancelled. Read
    /// it again.
    case overtaken

    init(_ failure: TransportFailure) {
        switch failure {
        case .notSent(let error): self = .notSent(error)
        case .unknown(let error): self = .unknown(error)
        }
    }

    /// One sentence for the log.
    var sentence: String {
        switch self {
        case .notSent(let error): "the store cannot be reached (\(error.code.rawValue))"
        case .unknown(let error):
            "the store gave no usable answer" + (error.map { " (\($0.code.rawValue))" } ?? "")
        case .refused(let status, let error): "\(status) \(error.code): \(error.message)"
        case .setUp(let sentence): sentence
        case .unverified(let failure): "a signature does not verify: \(failure)"
        case .disk(let error): "the device's files: \(error)"
        case .overtaken: "another process was first"
        }
    }

    /// The failure of a restore, or of a request for the receipt.
    var restoreFailure: PaymentFailure {
        var failure = paymentFailure
        if case .disk(let error) = self {
            failure.message = "The receipt could not be written down: \(error)."
        }
        return failure
    }

    /// The failure of a payment that has not left the device.
    var paymentFailure: PaymentFailure {
        switch self {
        case .notSent(let error), .unknown(let error?):
            var failure = PaymentFailure(.network, "Cannot connect to the store.")
            failure.urlErrorCode = error.code.rawValue
            return failure
        case .unknown(nil):
            return PaymentFailure(.storeFault, sentence)
        case .overtaken, .unverified:
            return PaymentFailure(.unknown, sentence)
        case .refused(_, let error): return PaymentFailure(refusal: error)
        case .setUp(let sentence): return PaymentFailure(.notSetUp, sentence)
        case .disk(let error):
            var failure = PaymentFailure(
                .disk, "The device's queue could not be used: \(error).")
            failure.systemErrorCode = (error as? DeviceFilesFault).map { Int($0.errorNumber) }
            return failure
        }
    }
}
