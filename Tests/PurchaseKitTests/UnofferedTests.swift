// SPDX-License-Identifier: Apache-2.0

import Foundation
import PurchaseKit
import Synchronization
import TestSupport
import Testing

/// What compiles and this store does not offer: it fails and says why.
@Suite(.timeLimit(.minutes(5)))
struct UnofferedTests {
    /// Keeps what it hears of downloads.
    final class Downloads: NSObject, SKPaymentTransactionObserver, Sendable {
        let diary = Diary()

        func paymentQueue(
            _ queue: SKPaymentQueue, updatedTransactions transactions: [SKPaymentTransaction]
        ) {}

        func paymentQueue(
            _ queue: SKPaymentQueue, updatedDownloads downloads: [SKDownload]
        ) {
            for download in downloads {
                let error = download.error as? SKError
                diary.write("\(download.state) \(error?.code.rawValue ?? -1)")
            }
        }
    }

    private func isRefusal(_ error: (any Error)?, _ word: String) -> Bool {
        guard let error = error as? SKError else { return false }
        return error.code == .clientInvalid && error.localizedDescription.contains(word)
    }

    @Test func `a download that an app has made fails when it is started`() async throws {
        let app = try Rig().launch(observer: nil)
        let observer = Downloads()
        app.queue.add(observer)
        let download = SKDownload()
        #expect(download.state == .waiting && download.downloadState == .waiting)
        #expect(download.timeRemaining == SKDownloadTimeRemainingUnknown)

        app.queue.pause([download])
        app.queue.cancel([download])
        app.queue.start([])
        app.queue.start([download])
        await observer.diary.wait(for: "failed")

        #expect(observer.diary.lines == ["failed 1"])
        #expect(isRefusal(download.error, "another queue"))
        #expect(download.contentURL == nil)
        #expect(SKDownload.contentURL(forProductID: "a") == nil)
        #expect(SKPaymentTransaction().downloads == [])
        let product = SKProduct()
        #expect(!product.isDownloadable && product.downloadContentLengths == [])
        #expect(product.downloadContentVersion == "" && product.contentVersion == "")
    }

    @Test func `an observer without the method adds no promoted purchase`() {
        #expect(
            !Downloads().paymentQueue(
                SKPaymentQueue(), shouldAddStorePayment: SKPayment(), for: SKProduct()))
    }

    @Test func `music, advertisements and pages of the store are refused`() async {
        #expect(SKCloudServiceController.authorizationStatus() == .denied)
        let answers = Diary()
        SKCloudServiceController().requestCapabilities { _, error in
            answers.write("music \((error as? SKError)?.code.rawValue ?? -1)")
        }
        SKAdNetwork.updatePostbackConversionValue(3) { error in
            answers.write("advertisement \((error as? SKANError)?.code.rawValue ?? -1)")
        }
        let seen = SKAdImpression()
        seen.adNetworkIdentifier = "example"
        SKAdNetwork.startImpression(seen) { error in
            answers.write("seen \((error as? SKANError)?.code.rawValue ?? -1)")
        }
        SKStoreProductViewController().loadProduct(
            withParameters: [
                SKStoreProductParameterITunesItemIdentifier: 1,
                SKStoreProductParameterAdNetworkIdentifier: "example",
            ], impression: seen
        ) { isLoaded, error in
            answers.write("page \(isLoaded) \((error as? SKError)?.code.rawValue ?? -1)")
        }
        SKCloudServiceSetupViewController().load(options: [
            .action: SKCloudServiceSetupAction.subscribe
        ]) {
            answers.write("offer \($0) \(($1 as? SKError)?.code.rawValue ?? -1)")
        }
        await answers.wait(for: "offer")
        #expect(
            answers.lines == [
                "music 6", "advertisement 1", "seen 1", "page false 19", "offer false 19",
            ])
    }

    @Test func `a banner is refused, and games have nothing to repair`() async {
        final class Listener: NSObject, SKOverlayDelegate, Sendable {
            let diary = Diary()

            func storeOverlayDidFailToLoad(_ overlay: SKOverlay, error: any Error) {
                let place = (overlay.configuration as? SKOverlay.AppConfiguration)?.position
                diary.write(
                    "failed \((error as? SKError)?.code.rawValue ?? -1) \(place == .bottom)")
            }
        }
        let listener = Listener()
        let configuration = SKOverlay.AppConfiguration(appIdentifier: "1234", position: .bottom)
        configuration.setAdditionalValue(1, forKey: "a")
        #expect(configuration.additionalValue(forKey: "a") as? Int == 1)
        let overlay = SKOverlay(configuration: configuration)
        overlay.delegate = listener
        overlay.present(in: self)
        await listener.diary.wait(for: "failed")
        #expect(listener.diary.lines == ["failed 19 true"])
        SKOverlay.dismiss(in: self)
        #expect(SKOverlay.AppClipConfiguration(position: .bottomRaised).position.rawValue == 1)
        SKArcadeService.repairArcadeApp()
    }
}

/// Tests of apps fill products by name, because Apple's classes have key-value coding.
struct SetValueTests {
    @Test func `a product is filled by name`() {
        let period = SKProductSubscriptionPeriod()
        period.setValue(3, forKey: "numberOfUnits")
        period.setValue(SKProduct.PeriodUnit.month.rawValue, forKey: "unit")
        let offer = SKProductDiscount()
        offer.setValue(NSDecimalNumber(string: "0.99"), forKey: "price")
        offer.setValue(SKProductDiscount.PaymentMode.freeTrial, forKey: "paymentMode")
        offer.setValue(UInt(1), forKey: "type")
        offer.setValue("half", forKey: "identifier")
        let product = SKProduct()
        product.setValue("credits.5", forKey: "productIdentifier")
        product.setValue(NSDecimalNumber(string: "1.99"), forKey: "price")
        product.setValue(Locale(identifier: "de_DE"), forKey: "priceLocale")
        product.setValue(period, forKey: "subscriptionPeriod")
        product.setValue(offer, forKey: "introductoryPrice")
        product.setValue([offer], forKey: "discounts")

        #expect(product.productIdentifier == "credits.5" && product.localizedTitle == "")
        #expect(product.price == NSDecimalNumber(string: "1.99"))
        #expect(product.priceLocale.identifier == "de_DE")
        #expect(product.subscriptionPeriod?.numberOfUnits == 3)
        #expect(product.subscriptionPeriod?.unit == .month)
        #expect(product.introductoryPrice?.paymentMode == .freeTrial)
        #expect(product.discounts.map(\.type) == [.subscription])
        product.setValue(nil, forKey: "introductoryPrice")
        #expect(product.introductoryPrice == nil)
    }

    @Test func `a name that is no property ends the test`() async {
        await #expect(processExitsWith: .failure) {
            SKProduct().setValue(1, forKey: "prise")
        }
    }
}
