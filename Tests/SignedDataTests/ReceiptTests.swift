// SPDX-License-Identifier: Apache-2.0

import Commerce
import Testing

@testable import SignedData

@Suite struct ReceiptTests {
    @Test(arguments: ReceiptDigest.allCases)
    func `a receipt contains what was signed`(digest: ReceiptDigest) throws {
        let bytes = try Sample.receipt(digest: digest)

        let receipt = try Sample.receiptVerifier().verify(
            bytes, bundleID: Sample.bundleID, environment: "ProductionSandbox",
            device: Sample.device, now: Sample.now)

        #expect(receipt.purchases == [Sample.purchase(1007), Sample.purchase(1008)])
        #expect(receipt.environment == "ProductionSandbox")
        #expect(receipt.appItemID == 0)
        #expect(receipt.bundleID == Sample.bundleID)
        #expect(receipt.appVersion == "1.2.3")
        #expect(receipt.opaque == Array(100..<116))
        #expect(receipt.creationDate == Sample.now)
        #expect(receipt.originalPurchaseDate == Sample.now)
        #expect(receipt.originalAppVersion == "1.2.3")
        #expect(receipt.expirationDate == nil)
        #expect(receipt.unknown.isEmpty)
    }

    @Test func `a receipt without purchases is a receipt`() throws {
        let bytes = try Sample.authority().receipts.sign(Sample.header(), records: [])

        let receipt = try Sample.receiptVerifier().verify(bytes, bundleID: nil)

        #expect(receipt.purchases.isEmpty)
    }

    @Test func `every fact of a purchase survives`() throws {
        var purchase = Sample.purchase()
        purchase.originalTransactionID = "2000000000000003"
        purchase.originalPurchaseDate = Sample.now.adding(seconds: -86_400)
        purchase.type = .autoRenewable
        purchase.expiresDate = Sample.now.adding(seconds: 86_400)
        purchase.webOrderLineItemID = 200_000_123_456_789
        purchase.cancellationDate = Sample.now.adding(seconds: 60)
        purchase.cancellationReason = 1
        purchase.isTrialPeriod = true
        purchase.isInIntroOfferPeriod = true
        purchase.promotionalOfferID = "spring ✿"
        purchase.unknown = [ReceiptAttribute(type: 1799, version: 7, value: [1, 2, 3])]

        let bytes = try Sample.authority().receipts.sign(
            Sample.header(), records: [purchase.encoded()])
        let receipt = try Sample.receiptVerifier().verify(bytes, bundleID: nil)

        #expect(receipt.purchases == [purchase])
    }

    @Test func `every fact of the header survives`() throws {
        var header = Sample.header()
        header.appItemID = 1_234_567_890
        header.originalPurchaseDate = Sample.now.adding(seconds: -86_400)
        header.originalAppVersion = "1.0 β"
        header.expirationDate = Sample.now.adding(seconds: 86_400)

        let bytes = try Sample.authority().receipts.sign(header, records: [])
        let receipt = try Sample.receiptVerifier().verify(bytes, bundleID: nil, now: Sample.now)

        #expect(receipt.appItemID == 1_234_567_890)
        #expect(receipt.originalPurchaseDate == Sample.now.adding(seconds: -86_400))
        #expect(receipt.originalAppVersion == "1.0 β")
        #expect(receipt.expirationDate == Sample.now.adding(seconds: 86_400))
    }

    @Test func `dates lose their fraction of a second`() {
        let purchase = ReceiptPurchase(
            quantity: 1, productID: "p", transactionID: "1",
            purchaseDate: Timestamp(milliseconds: 1_760_000_000_999), type: .nonConsumable)

        #expect(purchase.purchaseDate == Timestamp(milliseconds: 1_760_000_000_000))
        #expect(Timestamp(milliseconds: -1).wholeSeconds == Timestamp(milliseconds: -1000))
    }

    @Test func `whether a price was introductory is written for subscriptions, and where it was`() {
        // The number of the attribute, 1719, as DER writes it.
        let mark: [UInt8] = [0x02, 0x02, 0x06, 0xB7]
        func isWritten(_ type: ReceiptPurchase.ProductType, _ isIntroductory: Bool) -> Bool {
            var purchase = Sample.purchase()
            purchase.type = type
            purchase.isInIntroOfferPeriod = isIntroductory
            let bytes = purchase.encoded()
            return bytes.indices.contains { bytes[$0...].starts(with: mark) }
        }

        #expect(isWritten(.autoRenewable, false) && isWritten(.autoRenewable, true))
        #expect(!isWritten(.consumable, false) && isWritten(.consumable, true))
    }

    @Test func `certificates run leaf, intermediate, root`() throws {
        let envelope = try ReceiptEnvelope(Sample.receipt())

        #expect(envelope.certificates.count == 3)
        #expect(envelope.certificates.last == (try Sample.authority().root))
        let proven = try CertificateChain.prove(
            envelope.certificates, roots: TrustedRoots([Sample.authority().root]))
        #expect(try ReceiptEnvelope.SignerName(proven.leaf) == envelope.signer)
    }

    @Test func `a hash is for one device only`() throws {
        let receipt = try Sample.receiptVerifier().verify(Sample.receipt(), bundleID: nil)

        #expect(receipt.isForDevice(Sample.device))
        #expect(!receipt.isForDevice(Sample.device.reversed()))
        #expect(!receipt.isForDevice([]))
    }

    @Test func `a payload wrapped in one more octet string is read`() throws {
        let content = try ReceiptEnvelope(Sample.receipt()).content
        let wrapped = Tamper.element(0x04, content)

        #expect(try AppReceipt(content: wrapped) == AppReceipt(content: content))
    }

    @Test func `a receipt of exactly the limit is read, and one byte more is not`() throws {
        func receipt(_ valueBytes: Int) throws -> [UInt8] {
            try SpoiltReceipt.records(
                SpoiltReceipt.record(99, [UInt8](repeating: 1, count: valueBytes)))
        }
        let limit = SignedDataLimits.receiptBytesMax
        // Lengths take as many bytes in this one as in the largest.
        let most = limit - (try receipt(limit / 2).count - limit / 2)

        let largest = try receipt(most)

        #expect(largest.count == limit)
        #expect(throws: Never.self) { try Sample.receiptVerifier().verify(largest, bundleID: nil) }
        #expect(ReceiptOutline(largest) != nil)
        let tooLarge = try receipt(most + 1)
        #expect(
            refusal { try Sample.receiptVerifier().verify(tooLarge, bundleID: nil) }?.rule == .size)
        #expect(refusal { try ReceiptEnvelope(ber: tooLarge) }?.rule == .size)
        #expect(throws: Never.self) { try ReceiptEnvelope(ber: largest) }
        #expect(ReceiptOutline(tooLarge) == nil)
    }

    @Test func `a receipt in BER is refused with the reason`() throws {
        let ber: [UInt8] = [0x30, 0x80, 0, 0]

        let failure = refusal { try Sample.receiptVerifier().verify(ber, bundleID: nil) }

        #expect(failure?.rule == .envelope)
        #expect(failure?.message.contains("BER") == true)
        for short: [UInt8] in [[], [0x30], [0x31, 0x80], [0x30, 0x81]] {
            let other = refusal { try Sample.receiptVerifier().verify(short, bundleID: nil) }
            #expect(other?.rule == .envelope && other?.message.contains("BER") == false)
        }
    }
}
