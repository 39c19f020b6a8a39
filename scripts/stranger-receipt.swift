// The line of docs/PORTING.md, in a file of its own as in an app, and a count that
// shows that the compiler chooses it.
import StoreKit

nonisolated(unsafe) var receiptQuestions = 0

#if os(Linux)
    extension Bundle {
        var appStoreReceiptURL: URL? {
            receiptQuestions += 1
            return Device.default.expectedReceiptURL
        }
    }
#endif
