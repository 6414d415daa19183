import json, os, sys, time, traceback
os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
import torch, torch.nn.functional as F, torch.nn as nn
from torch.profiler import profile, ProfilerActivity
OUT = sys.argv[1]; T0 = time.time(); BUDGET = float(sys.argv[2])
dev = "cuda"; res = []
DT = {"fp64": torch.float64, "fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16,
      "int64": torch.int64, "int32": torch.int32, "int8": torch.int8, "uint8": torch.uint8, "bool": torch.bool,
      "fp8": torch.float8_e4m3fn, "fp8e5": torch.float8_e5m2}
def t(*s, d="fp32"):
    if d.startswith("fp8"): return torch.randn(*s, device=dev).to(DT[d])
    if d == "bool": return torch.randn(*s, device=dev) > 0
    if d.startswith(("int", "uint")): return torch.randint(0, 9, s, device=dev).to(DT[d])
    return torch.randn(*s, device=dev, dtype=DT[d])
MODE = sys.argv[3]
SEEN = set()
def rec(tag, fn):
    if MODE == "ncu":
        if time.time() - T0 > BUDGET: return
        try:
            torch.cuda.nvtx.range_push(tag); fn(); torch.cuda.synchronize()
        except Exception as ex: print(tag, repr(ex)[:80])
        finally: torch.cuda.nvtx.range_pop()
        return
    rec_profile(tag, fn)
def rec_profile(tag, fn):
    if time.time() - T0 > BUDGET: return
    try:
        fn(); torch.cuda.synchronize()
        with profile(activities=[ProfilerActivity.CUDA], acc_events=True) as p:
            fn(); torch.cuda.synchronize()
        rows = {}
        for e in p.events():
            if str(e.device_type).endswith("CUDA"):
                r = rows.setdefault(e.name, [0, 0.0]); r[0] += 1; r[1] += e.device_time if hasattr(e, "device_time") else e.cuda_time
        res.append({"op": tag, "kernels": [[n, c, round(us, 3)] for n, (c, us) in rows.items()]})
    except Exception as ex:
        res.append({"op": tag, "error": repr(ex)[:200]})
    if len(res) % 20 == 0: json.dump(res, open(OUT, "w"))
idx = torch.randint(0, 2048, (4096,), device=dev)
try:
    for d in ("fp32", "bf16"):
        x, w = t(1024, 1024, d=d), t(1024, 1024, d=d); g = t(1024, d=d)
        for nm, fn in (("to_copy", lambda x: x.to(torch.float16)), ("gelu_mlp", lambda x: F.gelu(x @ w) + x), ("rms", lambda x: F.rms_norm(x, (1024,), g)), ("softmax", lambda x: (x.float() * 2).softmax(-1).to(x.dtype)), ("sum", lambda x: (x * x).sum(-1)), ("dropout", lambda x: F.dropout(x, 0.1)), ("embed", lambda x: F.embedding(idx[:512] % 1024, x)), ("transpose", lambda x: x.t().contiguous() * 2), ("cast_add", lambda x: x.to(torch.float64) + 1)):
            cf = torch.compile(fn); rec(f"inductor:{nm}:{d}", lambda: cf(x))
        cm = torch.compile(lambda x: x @ w, mode="max-autotune-no-cudagraphs"); rec(f"inductor:maxauto:{d}", lambda: cm(x))
except Exception: traceback.print_exc()
json.dump(res, open(OUT, "w"))
print(len(res), sum("error" in r for r in res), time.time() - T0)
