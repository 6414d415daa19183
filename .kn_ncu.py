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
def tf32(on):
    torch.backends.cuda.matmul.allow_tf32 = on; torch.backends.cudnn.allow_tf32 = on
N = 1024
for d in ("fp64", "fp32", "fp16", "bf16"):
    for n, m, k in ((N, N, N), (64, 64, 8192), (1, N, N)):
        a, b = t(n, k, d=d), t(k, m, d=d)
        tf32(False); rec(f"gemm:{d}:{n}x{m}x{k}", lambda: a @ b)
        rec(f"gemm:{d}:{n}x{m}x{k}:nt", lambda: a @ b.t().contiguous().t())
        if d == "fp32": tf32(True); rec(f"gemm:tf32:{n}x{m}x{k}", lambda: a @ b); tf32(False)
    a, b = t(64, 256, 256, d=d), t(64, 256, 256, d=d)
    rec(f"bmm:{d}", lambda: torch.bmm(a, b))
    if d == "fp32": tf32(True); rec("bmm:tf32", lambda: torch.bmm(a, b)); tf32(False)
    x, w, bi = t(512, N, d=d), t(N, N, d=d), t(N, d=d)
    rec(f"linear_bias:{d}", lambda: F.linear(x, w, bi)); rec(f"mv:{d}", lambda: w @ bi); rec(f"dot:{d}", lambda: bi @ bi)
try:
    torch.backends.cuda.matmul.allow_fp16_accumulation = True
    a, b = t(2048, 2048, d="fp16"), t(2048, 2048, d="fp16"); rec("gemm:fp16:fp16acc", lambda: a @ b)
    torch.backends.cuda.matmul.allow_fp16_accumulation = False
except Exception: pass
for od in ("bf16", "fp16", "fp32"):
    a, b = t(2048, 2048, d="fp8"), t(2048, 2048, d="fp8").t(); s = torch.ones((), device=dev)
    rec(f"scaled_mm:fp8->{od}", lambda: torch._scaled_mm(a, b, scale_a=s, scale_b=s, out_dtype=DT[od]))
    rec(f"scaled_mm:fp8->{od}:fast", lambda: torch._scaled_mm(a, b, scale_a=s, scale_b=s, out_dtype=DT[od], use_fast_accum=True))
    sa, sb = torch.ones(2048, 1, device=dev), torch.ones(1, 2048, device=dev)
    rec(f"scaled_mm:rowwise:fp8->{od}", lambda: torch._scaled_mm(a, b, scale_a=sa, scale_b=sb, out_dtype=DT[od]))
a5 = t(2048, 2048, d="fp8e5"); rec("scaled_mm:e5m2", lambda: torch._scaled_mm(a5, b, scale_a=s, scale_b=s, out_dtype=DT["bf16"]))
ai, bi8 = t(2048, 2048, d="int8"), t(2048, 2048, d="int8"); rec("int_mm:nn", lambda: torch._int_mm(ai, bi8)); rec("int_mm:nt", lambda: torch._int_mm(ai, bi8.t()))
for o in ("fp32",):
    a, b = t(N, N, d="bf16"), t(N, N, d="bf16"); rec("gemm:bf16->fp32", lambda: torch.mm(a, b, out_dtype=torch.float32))
    a, b = t(N, N, d="fp16"), t(N, N, d="fp16"); rec("gemm:fp16->fp32", lambda: torch.mm(a, b, out_dtype=torch.float32))
ac = torch.randn(512, 512, device=dev, dtype=torch.complex64); rec("gemm:complex64", lambda: ac @ ac)
ac2 = ac.to(torch.complex128); rec("gemm:complex128", lambda: ac2 @ ac2)
for d in ("fp32", "fp16"):
    dd = "fp32" if d == "tf32" else d; tf32(d == "tf32")
    for fmt in (torch.contiguous_format, torch.channels_last):
        for cin, ks, g, st in ((64, 3, 1, 1), (64, 1, 1, 1), (3, 7, 1, 2), (64, 3, 64, 1), (64, 5, 1, 1)):
            x = t(16, cin, 56, 56, d=dd).to(memory_format=fmt).requires_grad_(); w = t(64, cin // g, ks, ks, d=dd).to(memory_format=fmt).requires_grad_()
            def f():
                y = F.conv2d(x, w, None, stride=st, padding=ks // 2, groups=g); y.backward(torch.ones_like(y))
            rec(f"conv:{d}:{'nhwc' if fmt == torch.channels_last else 'nchw'}:c{cin}k{ks}g{g}", f)
tf32(False)
from torch.nn.attention import sdpa_kernel, SDPBackend as B
for d in ("fp32", "fp16", "bf16"):
    q = t(4, 16, 512, 64, d=d).requires_grad_()
    for bk in ("FLASH_ATTENTION", "EFFICIENT_ATTENTION", "CUDNN_ATTENTION", "MATH"):
        def f():
            with sdpa_kernel(getattr(B, bk)): F.scaled_dot_product_attention(q, q, q, is_causal=True).sum().backward()
        rec(f"sdpa:{d}:{bk}", f)
fl = ("fp64", "fp32", "fp16", "bf16")
for s_ in ("fp32", "fp16", "int64"):
    for d_ in ("fp32", "fp16", "bf16", "fp8"):
        if s_ != d_:
            x = t(2048, 2048, d=s_); rec(f"cast:{s_}->{d_}", lambda: x.to(DT[d_]))
            if s_ in fl and d_ in fl: rec(f"cast_strided:{s_}->{d_}", lambda: x.t().to(DT[d_], memory_format=torch.contiguous_format))
for d in ("fp32", "fp16"):
    x = t(2048, 2048, d=d); rec(f"clone:{d}", lambda: x.clone()); rec(f"strided_copy:{d}", lambda: x.t().contiguous())
    y = t(8, 16, 128, 64, d=d); rec(f"permute_copy:{d}", lambda: y.permute(0, 2, 1, 3).contiguous()); rec(f"fill:{d}", lambda: torch.full((2048, 2048), 1, device=dev, dtype=DT[d])); rec(f"zeros:{d}", lambda: torch.zeros(2048, 2048, device=dev, dtype=DT[d]))
    rec(f"cat:{d}", lambda: torch.cat([x, x], 1)); rec(f"stack:{d}", lambda: torch.stack([x, x])); rec(f"repeat:{d}", lambda: x.repeat(2, 2))
    idx = torch.randint(0, 2048, (4096,), device=dev); rec(f"index_select:{d}", lambda: x.index_select(0, idx)); rec(f"index:{d}", lambda: x[idx]); rec(f"gather:{d}", lambda: torch.gather(x, 0, idx.view(2, 2048)))
for d in ("fp32", "fp16"):
    x, y, z = t(2048, 2048, d=d), t(2048, 2048, d=d), t(2048, 2048, d="fp32")
    for op in ("exp sqrt relu isnan").split(): rec(f"unary:{op}:{d}", lambda: getattr(torch, op)(x))
    for op in ("add mul pow eq").split(): rec(f"binary:{op}:{d}", lambda: getattr(torch, op)(x, y)); rec(f"scalar:{op}:{d}", lambda: getattr(torch, op)(x, 2.5)) if op != "maximum" else 0
    for op in ("add", "mul", "div"): rec(f"promote:{op}:{d}", lambda: getattr(torch, op)(x, z)); rec(f"broadcast:{op}:{d}", lambda: getattr(torch, op)(x, y[:1])); rec(f"strided:{op}:{d}", lambda: getattr(torch, op)(x.t(), y))
    rec(f"where:{d}", lambda: torch.where(x > 0, x, y)); rec(f"clamp:{d}", lambda: x.clamp(0, 1)); rec(f"addcmul:{d}", lambda: torch.addcmul(x, x, y)); rec(f"addcdiv:{d}", lambda: torch.addcdiv(x, x, y)); rec(f"lerp:{d}", lambda: torch.lerp(x, y, 0.3)); rec(f"masked_fill:{d}", lambda: x.masked_fill(y > 0, 0.0)); rec(f"triu:{d}", lambda: x.triu())
    for op in ("gelu silu leaky_relu elu hardswish mish softplus dropout").split():
        xr = x.clone().requires_grad_(); rec(f"act:{op}:{d}", lambda: getattr(F, op)(xr).backward(x))
    for op in ("sum mean amax argmax std norm prod any logsumexp").split(): rec(f"reduce:{op}:{d}", lambda: getattr(torch, op)(x, dim=1)); rec(f"reduce_all:{op}:{d}", lambda: getattr(torch, op)(x)) if op not in ("logsumexp",) else 0
    for op in ("softmax", "log_softmax"):
        for n in (512, 2048, 50000):
            xs = t(256, n, d=d).requires_grad_(); rec(f"{op}:{n}:{d}", lambda: getattr(F, op)(xs, -1).backward(xs.detach()))
    xr = x.clone().requires_grad_(); w1 = t(2048, d=d).requires_grad_(); rec(f"layer_norm:{d}", lambda: F.layer_norm(xr, (2048,), w1, w1).backward(x)); rec(f"rms_norm:{d}", lambda: F.rms_norm(xr, (2048,), w1).backward(x))
    im = t(16, 64, 32, 32, d=d).requires_grad_(); w2 = torch.ones(64, device=dev, requires_grad=True)
    def bn(): y = F.batch_norm(im, torch.zeros(64, device=dev), torch.ones(64, device=dev), w2, w2, True); y.backward(torch.ones_like(y))
    rec(f"batch_norm:{d}", bn)
    imc = im.detach().to(memory_format=torch.channels_last).requires_grad_()
    def bnc(): y = F.batch_norm(imc, torch.zeros(64, device=dev), torch.ones(64, device=dev), w2, w2, True); y.backward(torch.ones_like(y))
    rec(f"batch_norm_cl:{d}", bnc)
    w3 = w2.detach().to(DT[d]); rec(f"group_norm:{d}", lambda: F.group_norm(im, 8, w3, w3).sum().backward()); rec(f"instance_norm:{d}", lambda: F.instance_norm(im).sum().backward())
    for op, k in (("max_pool2d", 2), ("avg_pool2d", 2), ("adaptive_avg_pool2d", 1), ("adaptive_max_pool2d", 1)): rec(f"pool:{op}:{d}", lambda: getattr(F, op)(im, k).sum().backward()); rec(f"pool_cl:{op}:{d}", lambda: getattr(F, op)(imc, k).sum().backward())
    for mode in ("nearest", "bilinear", "bicubic"): rec(f"interpolate:{mode}:{d}", lambda: F.interpolate(im, scale_factor=2, mode=mode).sum().backward())
    lg, tg = t(512, 32000, d=d).requires_grad_(), torch.randint(0, 32000, (512,), device=dev)
    rec(f"loss:cross_entropy:{d}", lambda: F.cross_entropy(lg, tg).backward()); rec(f"loss:mse:{d}", lambda: F.mse_loss(xr, y).backward()); rec(f"loss:bce:{d}", lambda: F.binary_cross_entropy_with_logits(xr, y.sigmoid()).backward()); rec(f"loss:smooth_l1:{d}", lambda: F.smooth_l1_loss(xr, y).backward()); rec(f"loss:kl:{d}", lambda: F.kl_div(xr, y).backward())
    ew = t(32000, 512, d=d).requires_grad_(); rec(f"embedding:{d}", lambda: F.embedding(tg, ew).sum().backward()); rec(f"embedding_bag:{d}", lambda: F.embedding_bag(tg.view(16, 32), ew, mode="sum").sum().backward())
    rec(f"rng:randn:{d}", lambda: torch.randn(2048, 2048, device=dev, dtype=DT[d])); rec(f"rng:rand:{d}", lambda: torch.rand(2048, 2048, device=dev, dtype=DT[d])); rec(f"rng:bernoulli:{d}", lambda: torch.bernoulli(x.sigmoid())); rec(f"rng:multinomial:{d}", lambda: torch.multinomial(x[:4].sigmoid(), 4))
    rec(f"sort:{d}", lambda: x.sort(-1)); rec(f"topk:{d}", lambda: x.topk(5, -1)); rec(f"cumsum:{d}", lambda: x.cumsum(-1)); rec(f"scatter_add:{d}", lambda: torch.zeros_like(x).scatter_add_(0, idx.view(2, 2048), x[:2])); rec(f"index_add:{d}", lambda: torch.zeros_like(x).index_add_(0, idx[:2048], x)); rec(f"index_put:{d}", lambda: torch.zeros_like(x).index_put_((idx,), x[idx], accumulate=True)); rec(f"unique:{d}", lambda: x[:8].unique()); rec(f"nonzero:{d}", lambda: (x > 0).nonzero()); rec(f"flip:{d}", lambda: x.flip(0)); rec(f"roll:{d}", lambda: x.roll(3, 0)); rec(f"pad:{d}", lambda: F.pad(im, (1, 1, 1, 1))); rec(f"reflect_pad:{d}", lambda: F.pad(im, (1, 1, 1, 1), mode="reflect")); rec(f"copy_rows:{d}", lambda: x[:, :100].copy_(y[:, :100]))
    ps = [t(512, 512, d=d).requires_grad_() for _ in range(4)]
    for p_ in ps: p_.grad = torch.randn_like(p_)
    for on in ("SGD", "Adam"):
        for kw in ({"foreach": False}, {"foreach": True}, {"fused": True}):
            o = getattr(torch.optim, on)(ps, lr=1e-3, **({"momentum": 0.9} if on == "SGD" else {}), **kw); rec(f"optim:{on}:{list(kw)[0]}{list(kw.values())[0]}:{d}", o.step)
    rec(f"clip_grad:{d}", lambda: nn.utils.clip_grad_norm_(ps, 1.0)); rec(f"foreach_copy:{d}", lambda: torch._foreach_copy_([p.detach() for p in ps], [z[:512, :512].contiguous() for _ in ps]))
    for rn in ("LSTM", "GRU", "RNN"):
        try:
            r = getattr(nn, rn)(256, 256, 2).to(dev, DT[d]); xi = t(64, 32, 256, d=d).requires_grad_(); rec(f"rnn:{rn}:{d}", lambda: r(xi)[0].sum().backward())
        except Exception: pass

sc = torch.amp.GradScaler("cuda"); pm = nn.Linear(512, 512).to(dev); om = torch.optim.SGD(pm.parameters(), lr=0.1); xm = t(256, 512)
def amp():
    with torch.autocast("cuda", dtype=torch.float16): l = pm(xm).float().pow(2).mean()
    sc.scale(l).backward(); sc.step(om); sc.update(); om.zero_grad()
rec("amp:step", amp)
xf = t(64, 4096); rec("fft:rfft", lambda: torch.fft.rfft(xf)); rec("fft:fft2", lambda: torch.fft.fft2(ac)); rec("fft:1000", lambda: torch.fft.fft(ac[:, :500]))
sq = t(256, 256); sq = sq @ sq.t() + 300 * torch.eye(256, device=dev); rec("linalg:cholesky", lambda: torch.linalg.cholesky(sq)); rec("linalg:inv", lambda: torch.linalg.inv(sq)); rec("linalg:svd", lambda: torch.linalg.svd(sq)); rec("linalg:eigh", lambda: torch.linalg.eigh(sq)); rec("linalg:qr", lambda: torch.linalg.qr(sq))
rec("arange", lambda: torch.arange(100000, device=dev)); rec("linspace", lambda: torch.linspace(0, 1, 100000, device=dev)); rec("eye", lambda: torch.eye(512, device=dev)); rec("bincount", lambda: torch.bincount(idx)); rec("histc", lambda: torch.histc(xf)); rec("randperm", lambda: torch.randperm(100000, device=dev)); rec("randint", lambda: torch.randint(0, 9, (100000,), device=dev)); rec("cdist", lambda: torch.cdist(xf, xf)); rec("sparse_mm", lambda: torch.sparse.mm(sp, sq)) if False else 0
sp = (sq * (torch.rand_like(sq) > 0.9)).to_sparse_csr(); rec("sparse:csr_mm", lambda: sp @ sq); rec("ctc", lambda: F.ctc_loss(t(50, 4, 20).log_softmax(-1), torch.randint(1, 20, (4, 10), device=dev), torch.full((4,), 50), torch.full((4,), 10)))
rec("quantize:per_tensor", lambda: torch.quantize_per_tensor(xf, 0.1, 0, torch.qint8)); rec("fake_quant", lambda: torch.fake_quantize_per_tensor_affine(xf, 0.1, 0, -128, 127)); rec("grid_sample", lambda: F.grid_sample(t(2, 3, 64, 64), t(2, 64, 64, 2).tanh())); rec("conv_transpose", lambda: F.conv_transpose2d(t(4, 64, 32, 32), t(64, 64, 2, 2), stride=2)); rec("conv3d", lambda: F.conv3d(t(2, 16, 16, 32, 32), t(16, 16, 3, 3, 3))); rec("conv1d", lambda: F.conv1d(t(8, 64, 1024), t(64, 64, 3)))
json.dump(res, open(OUT, "w"))
try:
    import cupy as cp
    a = cp.random.rand(512, 512); b = a.astype(cp.float32)
    for nm, fn in (("add", lambda: a + a), ("cast", lambda: a.astype(cp.float32)), ("half", lambda: b.astype(cp.float16)), ("matmul", lambda: a @ a), ("matmul32", lambda: b @ b), ("sum", lambda: a.sum(0)), ("sort", lambda: cp.sort(a)), ("transpose", lambda: cp.ascontiguousarray(a.T)), ("where", lambda: cp.where(a > 0, a, 0)), ("take", lambda: a[cp.arange(9)]), ("rand", lambda: cp.random.rand(1000)), ("argmax", lambda: a.argmax(1)), ("fft", lambda: cp.fft.fft(a)), ("cumsum", lambda: a.cumsum())): rec(f"cupy:{nm}", fn)
except Exception: traceback.print_exc()
json.dump(res, open(OUT, "w"))
try:
    import jax, jax.numpy as jnp
    for d in ("float32", "bfloat16", "float16"):
        x = jnp.ones((1024, 1024), d)
        for nm, f in (("matmul", lambda x: x @ x), ("mlp", lambda x: jax.nn.gelu(x @ x) + 1), ("cast", lambda x: x.astype("float16" if d != "float16" else "float32")), ("transpose", lambda x: x.T + 0), ("softmax", lambda x: jax.nn.softmax(x)), ("sum", lambda x: x.sum(0)), ("ln", lambda x: (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)), ("conv", lambda x: jax.lax.conv(x.reshape(16, 64, 32, 32)[:, :, :, :], jnp.ones((64, 64, 3, 3), d), (1, 1), "SAME")), ("sort", lambda x: jnp.sort(x)), ("gather", lambda x: x[jnp.arange(64)]), ("rng", lambda x: jax.random.normal(jax.random.PRNGKey(0), (1024, 1024))), ("attn", lambda x: jax.nn.dot_product_attention(*([x.reshape(1, 1024, 16, 64)] * 3))), ("cumsum", lambda x: jnp.cumsum(x, 0))):
            j = jax.jit(f); rec(f"jax:{nm}:{d}", lambda: j(x).block_until_ready())
except Exception: traceback.print_exc()
json.dump(res, open(OUT, "w"))
print("done", time.time()-T0)
