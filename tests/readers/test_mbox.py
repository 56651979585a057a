"""Mailboxes as documents, the standard library's mailbox as the oracle, hostile ones too."""

import mailbox
from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd

PAGE = "<style>p {color: red}</style><p>Fish &amp; chips<br>to&nbsp;go</p><SCRIPT>if (a<b) c</SCRIPT> now"


def write(path, mails):
    box = mailbox.mbox(path)
    for mail in mails:
        box.add(mail)
    box.close()
    return path


def mail(number, subject, body, html=None):
    made = EmailMessage()
    made["Message-ID"], made["From"], made["To"] = f"<{number}@example.org>", "a@example.org", "b@example.org"
    made["Subject"], made["Date"] = subject, "Mon, 02 Feb 2026 10:00:00 +0000"
    if body is not None:
        made.set_content(body)
    if html is not None:
        made.add_alternative(html, subtype="html") if body is not None else made.set_content(
            html, subtype="html"
        )
    return made


def read(path, **options):
    return [document for batch in nd.read(path, **options) for document in batch.documents]


def test_subject_body_and_id(tmp_path):
    attached = mail(3, "Attached", "See the file.")
    attached.add_attachment("secret words", filename="notes.txt")
    mails = [
        mail(1, "Grüße aus Köln", "Schöne Grüße,\n\nFrom here to there.\n"),
        mail(
            2,
            "A page",
            None,
            "<style>p {color: red}</style><p>Fish &amp; chips<br>to&nbsp;go</p><SCRIPT>if (a<b) c</SCRIPT> now",
        ),
        attached,
        mail(4, "Both", "the plain part", "<p>the page part</p>"),
    ]
    found = read(write(tmp_path / "all.mbox", mails))
    assert [d.id for d in found] == [f"{i}@example.org" for i in (1, 2, 3, 4)]
    assert found[0].text == "Grüße aus Köln\n\nSchöne Grüße,\n\nFrom here to there."
    assert found[1].text == "A page\n\nFish & chips to go now"
    assert found[2].text == "Attached\n\nSee the file."
    assert found[3].text == "Both\n\nthe plain part"
    assert found[0].meta["from"] == "a@example.org" and found[0].meta["subject"] == "Grüße aus Köln"


def test_what_cannot_be_read_is_rejected(tmp_path):
    path = tmp_path / "no.mbox"
    path.write_bytes(b"just a text\nof two lines\n")
    rejects = nd.readers.Rejects()
    assert read(path, rejects=rejects) == []
    assert rejects.counts == {"not a mailbox": 1}
    big = write(tmp_path / "big.mbox", [mail(1, "s", "word " * 5000), mail(2, "s", "small")])
    rejects = nd.readers.Rejects()
    found = read(big, rejects=rejects, limits=nd.readers.Limits(document_bytes=2000))
    assert [d.id for d in found] == ["2@example.org"] and rejects.counts == {"too large": 1}


def test_a_mail_without_headers_or_with_odd_charsets(tmp_path):
    path = tmp_path / "odd.mbox"
    path.write_bytes(
        b"From x\n\nno headers at all\n\n"
        b"From x\nSubject: =?no-such?q?caf=E9?= \xff\nContent-Type: text/plain; charset=nonsense\n\nb\xe9ta\n"
    )
    found = read(path)
    assert found[0].text == "no headers at all"
    assert found[0].id == "odd.mbox:1"
    assert found[1].text.endswith("béta") and "café" in found[1].text


@given(st.binary(max_size=400))
def test_hostile_mailboxes_never_raise(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("hostile") / "x.mbox"
    path.write_bytes(b"From x\n" + data)
    for document in read(path):
        document.text.encode()


@pytest.mark.parametrize("page", ["<" * 500_000, "<a " * 200_000, "<style>" * 100_000, "&" * 500_000])
def test_hostile_pages_take_linear_time(tmp_path, page):
    found = read(write(tmp_path / "page.mbox", [mail(1, "s", None, page)]))
    assert len(found) == 1


def test_the_mail_preset_finds_a_wave(tmp_path):
    body = (
        "Dear {}, your account {} was charged {} dollars today for a year of protection of all your devices. Call us "
        "before Friday to cancel the order at once, or the amount will be taken from your card without another notice. "
    )
    mails = [
        mail(i, f"Invoice {i}", body.format(n, f"ab{i}7x", 100 + i))
        for i, n in enumerate(["Ann", "Bob", "Eve"])
    ]
    mails.append(
        mail(
            9,
            "Lunch",
            "Shall we meet for lunch at the usual place, or do you prefer the new one by the river?",
        )
    )
    result = nd.dedup(nd.read(write(tmp_path / "in.mbox", mails)), nd.preset("mail"))
    assert [result.ids[i] for i in result.kept] == ["0@example.org", "9@example.org"]
