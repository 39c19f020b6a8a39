# SPDX-License-Identifier: Apache-2.0
"""Walks through the pages of COMMAND (a built `shopkeeper`) in headless Chromium, as a customer
would: without scripts, by keyboard, in light and dark, narrow and wide. `make test-pages` runs it.
With a second argument it writes a screenshot of each page into that folder. Exits with 1 and says
what differed."""
import base64
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

COMMAND = pathlib.Path(sys.argv[1]).resolve()
SHOTS = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
ROOT = pathlib.Path(__file__).resolve().parents[2]
CATALOGUE = ROOT / "Samples" / "Newsstand" / "Newsstand.storekit"
APP, PRODUCT = "com.example.newsstand", "com.example.newsstand.monthly"
SECONDS_MAX = 30
# WCAG 2.1, 1.4.3, for text of normal size.
CONTRAST_MIN = 4.5

CHECKS = """
const problems = [];
if (document.querySelectorAll('h1').length !== 1) problems.push('not one h1');
if (!document.documentElement.lang) problems.push('no language');
let last = 1;
for (const heading of document.querySelectorAll('h1,h2,h3,h4')) {
  const level = Number(heading.tagName[1]);
  if (level > last + 1) problems.push('a level is left out before ' + heading.textContent);
  last = level;
}
for (const field of document.querySelectorAll('input:not([type=hidden]),select')) {
  if (!field.labels || field.labels.length === 0) problems.push('no label: ' + field.name);
}
for (const button of document.querySelectorAll('button,a')) {
  if (!button.textContent.trim()) problems.push('nothing to read on ' + button.outerHTML);
}
for (const image of document.querySelectorAll('img')) {
  if (!image.hasAttribute('alt')) problems.push('no text instead of ' + image.src);
}
const ids = [...document.querySelectorAll('[id]')].map(one => one.id);
if (new Set(ids).size !== ids.length) problems.push('an id comes twice');
if (document.documentElement.scrollWidth > window.innerWidth) problems.push('wider than the window');
function light(text) {
  const parts = text.match(/[\\d.]+/g).slice(0, 3).map(Number).map(one => one / 255)
    .map(one => one <= 0.03928 ? one / 12.92 : Math.pow((one + 0.055) / 1.055, 2.4));
  return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
}
function ground(element) {
  for (let one = element; one; one = one.parentElement) {
    const color = getComputedStyle(one).backgroundColor;
    if (!/, 0\\)$/.test(color)) return color;
  }
  return 'rgb(255, 255, 255)';
}
for (const element of document.querySelectorAll('body *')) {
  const own = [...element.childNodes].some(one => one.nodeType === 3 && one.textContent.trim());
  if (!own || element.tagName === 'OPTION') continue;
  const [a, b] = [light(getComputedStyle(element).color), light(ground(element))];
  const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (contrast < arguments[0]) problems.push('contrast ' + contrast.toFixed(1) + ': ' + element.outerHTML.slice(0, 80));
}
return problems;
"""


class Broken(Exception):
    """Something is not as it should be."""


def check(name, condition, told=""):
    print(("ok    " if condition else "WRONG ") + name + (f": {told}" if told else ""), flush=True)
    if not condition:
        raise Broken(name)


class Store:
    def __init__(self, folder):
        self.data = folder / "data"
        self.process = subprocess.Popen(
            [str(COMMAND), "serve", str(CATALOGUE), "--bundle-id", APP, "--port", "0",
             "--data", str(self.data), "--scrypt-rounds", "1024"],
            stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if line.startswith("Serving"):
                self.url = line.split(" at ")[1].strip()
                break
        self.run = json.loads((self.data / "run.json").read_text())

    def command(self, *words):
        done = subprocess.run(
            [str(COMMAND), *words, "--data", str(self.data), "--json"], capture_output=True,
            text=True, check=False, timeout=SECONDS_MAX)
        check("shopkeeper " + " ".join(words[:2]), done.returncode == 0, done.stderr.strip())
        return json.loads(done.stdout)

    def stop(self):
        self.process.terminate()
        self.process.wait(SECONDS_MAX)


def browser(is_dark=False, width=1000):
    options = webdriver.ChromeOptions()
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                 f"--window-size={width},1000"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    # Scripts of pages do not run; those of this test do.
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
        {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}]})
    return driver


def look(driver, name):
    """Checks what every page must have, and takes its picture."""
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    problems = driver.execute_script(CHECKS, CONTRAST_MIN)
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    check(f"{name}: headings, labels, ids, width and contrast", not problems, problems or "")
    log = [line["message"] for line in driver.get_log("browser") if "favicon" not in line["message"]]
    check(f"{name}: nothing to complain of", not log, log or "")
    if SHOTS:
        SHOTS.mkdir(parents=True, exist_ok=True)
        shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True})
        (SHOTS / f"{name}.png").write_bytes(base64.b64decode(shot["data"]))


def submit(driver, element):
    """Activates a button by keyboard, and waits for the next page."""
    before = driver.find_element(By.TAG_NAME, "html")
    element.send_keys(Keys.ENTER)
    WebDriverWait(driver, SECONDS_MAX).until(
        lambda _: driver.find_element(By.TAG_NAME, "html") != before)


def picture():
    """A blue PNG of 1024 × 1024 pixels."""
    def chunk(kind, body):
        return (struct.pack(">I", len(body)) + kind + body
                + struct.pack(">I", zlib.crc32(kind + body)))
    rows = (b"\0" + b"\x23\x60\x9e" * 1024) * 1024
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1024, 1024, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def dress(store, folder):
    """The app has an icon, a description and a promoted product, and is featured."""
    file = folder / "icon.png"
    file.write_bytes(picture())
    store.command("app", "image", "put", "icon", str(file))
    store.command("app", "page", "--icon", "icon", "--featured", "1", "--price", "Free",
                  "--description", "The news of the week.", "--url", "https://example.com/get")
    store.command("promotion", "set", PRODUCT, "--image", str(file))


def button(driver, text):
    return driver.find_element(By.XPATH, f"//button[contains(., '{text}')]")


def text(driver):
    return driver.find_element(By.TAG_NAME, "main").text


def walk(store, is_dark, width):
    kind = f"{'dark' if is_dark else 'light'}-{width}"
    driver = browser(is_dark, width)
    try:
        driver.get(store.url + "/")
        check(f"{kind}: a sandbox says so", "This is a test store" in driver.page_source)
        check(f"{kind}: the app is featured", "Featured" in text(driver))
        look(driver, f"today-{kind}")
        driver.get(f"{store.url}/store/apps/{APP}")
        check(f"{kind}: the app's products", "The Monthly" in text(driver))
        icon = driver.find_element(By.CSS_SELECTOR, "img.icon")
        check(f"{kind}: the icon is there", icon.get_property("naturalWidth") == 1024)
        check(f"{kind}: a visitor is asked to sign in", "Sign in to get" in text(driver))
        look(driver, f"app-{kind}")
        field = driver.find_element(By.ID, "q")
        field.send_keys("monthly")
        submit(driver, field)
        check(f"{kind}: a product is found", "1 product found" in text(driver))
        look(driver, f"search-{kind}")
        driver.get(store.url + "/store/nothing")
        look_at_missing(driver, kind)
        sign_in(driver, store, kind)
        account(driver, store, kind)
    finally:
        driver.quit()


def look_at_missing(driver, kind):
    check(f"{kind}: a missing page", "There is no such page" in text(driver))
    check(f"{kind}: a missing page of a sandbox says so",
          driver.title.startswith("[Sandbox] ")
          and "This is a test store" in driver.find_element(By.CSS_SELECTOR, "p.sandbox").text)
    check(f"{kind}: a missing page has no empty chooser",
          not driver.find_elements(By.ID, "storefront"))
    driver.get_log("browser")
    look(driver, f"missing-{kind}")


def sign_in(driver, store, kind):
    driver.get(store.url + "/store/sign-in")
    look(driver, f"sign-in-{kind}")
    # By keyboard alone: the skip link comes first.
    driver.switch_to.active_element.send_keys(Keys.TAB)
    check(f"{kind}: the first stop leads to the content",
          driver.switch_to.active_element.text.startswith("Skip"))
    driver.find_element(By.ID, "name").send_keys("customer")
    submit(driver, driver.find_element(By.ID, "name"))
    check(f"{kind}: signed in", driver.current_url.endswith("/store/account"), driver.current_url)


def account(driver, store, kind):
    check(f"{kind}: the subscription", "Renews on" in text(driver))
    look(driver, f"account-{kind}")
    submit(driver, button(driver, "Cancel the renewal"))
    check(f"{kind}: cancelled", "Ends on" in text(driver))
    shown = store.command("subscription", "list")[0]
    check(f"{kind}: the store knows it", shown["isRenewing"] is False)
    submit(driver, button(driver, "Resume the renewal"))
    check(f"{kind}: resumed", "Renews on" in text(driver))
    look(driver, f"resumed-{kind}")
    choose(driver, store, kind)
    submit(driver, button(driver, "Sign out"))
    check(f"{kind}: signed out", "Sign in" in driver.find_element(By.TAG_NAME, "nav").text)


def choose(driver, store, kind):
    driver.get(f"{store.url}/store/apps/{APP}")
    look(driver, f"promoted-{kind}")
    submit(driver, button(driver, "in the app"))
    told = text(driver)
    check(f"{kind}: the choice waits, and the page says how to get the app",
          "within 24 hours" in told and "Get the app" in told, told)
    look(driver, f"chosen-{kind}")


def refund(store):
    driver = browser()
    try:
        driver.get(store.url + "/store/sign-in")
        driver.find_element(By.ID, "name").send_keys("customer")
        submit(driver, driver.find_element(By.ID, "name"))
        driver.find_element(By.TAG_NAME, "summary").send_keys(Keys.ENTER)
        Select(driver.find_element(By.NAME, "reason")).select_by_value("UNSATISFIED_WITH_PURCHASE")
        submit(driver, button(driver, "Ask for the refund"))
        check("a refund is asked for", "A refund is asked for" in text(driver))
        asked = store.command("refunds")[0]
        check("the store knows why", asked["requestReason"] == "UNSATISFIED_WITH_PURCHASE")
    finally:
        driver.quit()


def foreign_form(store, folder):
    """A page of another origin posts the form that signs out."""
    page = folder / "evil.html"
    page.write_text(
        f'<form id="f" method="post" action="{store.url}/store/sign-out">'
        '<input name="form" value="1"><button>x</button></form>')
    driver = browser()
    try:
        driver.get(store.url + "/store/sign-in")
        driver.find_element(By.ID, "name").send_keys("customer")
        submit(driver, driver.find_element(By.ID, "name"))
        driver.get(page.as_uri())
        submit(driver, driver.find_element(By.TAG_NAME, "button"))
        driver.get(store.url + "/store/account")
        check("another origin's form does nothing", driver.current_url.endswith("/store/account"))
    finally:
        driver.quit()


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        store = Store(folder)
        try:
            store.command("buy", PRODUCT)
            dress(store, folder)
            for is_dark, width in ((False, 1000), (True, 360)):
                walk(store, is_dark, width)
            store.command("clock", "advance", "2mo")
            refund(store)
            foreign_form(store, folder)
        finally:
            store.stop()


if __name__ == "__main__":
    try:
        main()
    except Broken as broken:
        sys.exit(f"The pages differ: {broken}")
