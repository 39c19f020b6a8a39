// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import TestSupport
import Testing

@Suite struct CurrencyTests {
    @Test func `minor units are those of ISO 4217`() {
        let table = [
            (0, "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"),
            (2, "USD EUR GBP CHF CNY INR BRL MXN TWD HUF IDR COP TRY CZK RUB"),
            (3, "BHD IQD JOD KWD LYD OMR TND"),
            (4, "CLF UYW"),
        ]
        for (units, codes) in table {
            for code in codes.split(separator: " ") {
                #expect(Currency(code: String(code))?.minorUnits == units, "\(code)")
            }
        }
    }

    @Test(arguments: ["", "US", "USDD", "usd", "U$D", "ÜSD", "US\u{0}"])
    func `a code is three letters A to Z`(code: String) throws {
        #expect(Currency(code: code) == nil)
        let json = try JSONEncoder().encode([code])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([Currency].self, from: json)
        }
    }

    @Test func `a code is itself in JSON`() throws {
        let euro = try #require(Currency(code: "EUR"))
        #expect(String(decoding: try JSONEncoder().encode([euro]), as: UTF8.self) == "[\"EUR\"]")
    }
}

@Suite(.unforgiven) struct AmountTests {
    @Test(
        arguments: [
            ("0", 0), ("0.99", 990), ("1", 1000), ("14.0", 14_000), ("134.99", 134_990),
            ("0.001", 1), ("0.0010000", 1), ("00.5", 500), ("1.", nil), (".5", nil), ("", nil),
            (".", nil), ("-1", nil), ("+1", nil), ("1,99", nil), ("1.9.9", nil), ("1e3", nil),
            ("0.0001", nil), ("$1", nil), (" 1", nil), ("1 ", nil), ("٣", nil), ("NaN", nil),
            ("1000000000000", 1_000_000_000_000_000), ("1000000000000.001", nil),
            ("9999999999999", nil), ("99999999999999999999", nil),
            ("0.0000000000000000000001", nil),
            ("1\u{301}", nil), ("0x10", nil), ("1_000", nil),
        ] as [(String, Int64?)])
    func `a plain decimal is read exactly or not at all`(text: String, milliunits: Int64?) {
        #expect(Amount(decimal: text)?.milliunits == milliunits)
    }

    @Test(
        arguments: [
            (0, 0, "0"), (0, 2, "0.00"), (990, 0, "0.99"), (990, 2, "0.99"), (1000, 0, "1"),
            (1000, 2, "1.00"), (1500, 2, "1.50"), (1500, 0, "1.5"), (1, 0, "0.001"),
            (1, 2, "0.001"),
            (-1990, 2, "-1.99"), (1000, 9, "1.000"),
            (1_000_000_000_000_000, 2, "1000000000000.00"), (.min, 0, "-9223372036854775.808"),
        ] as [(Int64, Int, String)])
    func `a decimal has at least the decimals asked for`(
        milliunits: Int64, decimals: Int, text: String
    ) {
        #expect(Amount(milliunits: milliunits).decimal(decimals: decimals) == text)
    }

    @Test(arguments: Seeds.all)
    func `printing and reading give the same amount`(seed: UInt64) {
        var generator = SeededGenerator(seed)
        for _ in 0..<1000 {
            let bound = generator.one(of: [2000, 10_000_000, Amount.milliunitsMax])
            let amount = Amount(milliunits: generator.integer(in: 0...bound))
            let text = amount.decimal(decimals: generator.integer(in: 0...3))
            #expect(Amount(decimal: text) == amount, "\(text)")
        }
    }

    @Test(arguments: [
        ("1.99", "USD", 3, "5.97 USD"), ("0.1", "USD", 10, "1.00 USD"),
        ("100", "JPY", 7, "700 JPY"),
        ("0.333", "KWD", 3, "0.999 KWD"), ("0", "EUR", 10, "0.00 EUR"),
    ])
    func `a total is exact and shown with the currency's decimals`(
        price: String, code: String, count: Int, total: String
    ) throws {
        let price = try #require(Amount(decimal: price))
        let currency = try #require(Currency(code: code))
        #expect(Money(price * count, currency).description == total)
    }
}
