// SPDX-License-Identifier: Apache-2.0

import Commerce
import Shop
import StoreWire
import TestSupport
import Testing

@testable import ShopServer

/// Pages that say what went wrong, and pages with texts from right to left.
@Suite(.timeLimit(.minutes(5))) struct PageErrorTests {
    @Test(arguments: ["/store/nothing", "/store/account?after=1&after=2"])
    func `an error's page says that the store is a sandbox`(path: String) async throws {
        try await TestServer.with { server in
            // Also the first request of all, before any page was shown.
            for base in ["", "/realms/test-1", "/realms/live"] {
                let page = try await Browser(server).get(base + path)
                #expect(page.status == (path.contains("?") ? 400 : 404))
                #expect(page.text.contains("<title>[Sandbox] ") == (base != "/realms/live"))
                #expect(page.text.contains("role=\"note\"") == (base != "/realms/live"))
                #expect(page.text.contains("href=\"\(base)/\""), "\(page.text)")
                #expect(!page.text.contains("Country or region"))
                #expect(page.text.hasSuffix("</html>\n"))
            }
        }
    }

    @Test func `a wrong method and a form that is too long have pages too`() async throws {
        try await TestServer.with { server in
            let browser = Browser(server)
            let long = ["name": String(repeating: "a", count: 20_000)]
            let tries: [(String, [String: String], Int)] = [
                ("/store/search", [:], 405), ("/store/sign-in", long, 413),
            ]
            for (path, fields, status) in tries {
                let page = try await browser.post(path, fields)
                #expect(page.status == status, "\(path)")
                #expect(page.text.contains("<title>[Sandbox] "), "\(path)")
                #expect(page.text.contains("role=\"note\""), "\(path)")
            }
        }
    }

    @Test func `an error's page asks nobody who is signed in to sign in`() async throws {
        try await TestServer.with { server in
            let browser = Browser(server)
            #expect(try await browser.get("/").text.contains("/store/sign-in\""))
            _ = try await browser.signIn(TestServer.customer, TestServer.password)
            let missing = try await browser.get("/store/nothing")
            #expect(missing.status == 404 && !missing.text.contains("/store/sign-in\""))
            let refused = try await browser.get("/store/apps/com.none")
            #expect(refused.status == 404 && refused.text.contains("Sign out"))
            #expect(refused.text.contains("Country or region"))
        }
    }

    @Test func `a realm that is unknown has a page, which does not name it`() async throws {
        try await TestServer.with { server in
            for path in ["/", "/store", "/store/account", "/store/nothing"] {
                let page = try await Browser(server).get("/realms/nope\(path)")
                #expect(page.status == 404, "\(path)")
                #expect(page.text.hasPrefix("<!doctype html>"), "\(path)")
                #expect(!page.text.contains("nope"), "\(path)")
            }
            // Programs are answered as before.
            let device = try await server.send("GET", "/realms/nope/device/v1/receipt")
            #expect(device.error != nil)
        }
    }

    @Test(arguments: ["", "/realms/live"])
    func `the address of the store leads to its first page`(base: String) async throws {
        try await TestServer.with { server in
            let page = try await Browser(server).get("\(base)/store")
            #expect(page.status == 303 && page.header("Location") == "\(base)/")
        }
    }

    @Test func `a text from right to left does not reorder a price`() async throws {
        try await TestServer.with { server in
            let realm = try await server.store.realm(named: Store.defaultRealm)
            let context = Shop.RequestContext(requestID: "test")
            var change = ProductChange()
            change.price = 4990
            change.localizations = [
                ProductWords(locale: "en_US", displayName: "בננות", description: "חמש\nבננות")
            ]
            _ = try await realm.catalogue.changeProduct(
                "pro", bundleID: TestServer.bundleID.value, change, context)
            let child = try await realm.customers.createCustomer(
                CreateCustomerRequest(name: "חנה", asksToBuy: true))
            let parent = try #require(
                try await realm.customers.listCustomers().first { $0.name == TestServer.customer })
            try await realm.families.join(parent.customerId, member: child.customerId, context)
            let token = try await server.token(customer: "חנה")
            _ = try await server.buy(purchaseID(1), "pro", bearer: token)
            let browser = Browser(server)
            _ = try await browser.signIn(TestServer.customer, TestServer.password)

            let account = try await browser.get("/store/account").text
            let app = try await browser.get("/store/apps/\(TestServer.bundleID)").text
            let search = try await browser.get("/store/search?q=%E2%80%AEabc").text

            for text in ["חנה", "בננות", "$4.99"] {
                #expect(account.contains("<bdi>\(text)</bdi>"), "\(account)")
            }
            #expect(app.contains("<bdi>בננות</bdi></h3>"))
            #expect(search.contains("found for “<bdi>abc</bdi>”."))
        }
    }

    @Test(arguments: [
        ("Cheap\u{202E} thing\u{200B}", "Cheap thing"), ("a\u{1B}[2J\u{2069}b", "a[2Jb"),
        ("a\nb", "a\nb"), ("👩\u{200D}👧 בננות", "👩\u{200D}👧 בננות"),
    ])
    func `a text that is older than the rule is shown without what it hides`(
        text: String, shown: String
    ) {
        #expect(text.shown == shown)
        #expect(text.isolated == "\u{2068}\(shown)\u{2069}")
    }
}
